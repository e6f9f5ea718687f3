#include <math.h>
#include <stdint.h>

static void hotspot_step(const float *restrict power, const float *restrict before,
                         float *restrict after, int64_t rows, int64_t columns, float cap) {
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            float here = before[r * columns + c];
            float north = before[(r > 0 ? r - 1 : 0) * columns + c];
            float south = before[(r < rows - 1 ? r + 1 : r) * columns + c];
            float west = before[r * columns + (c > 0 ? c - 1 : 0)];
            float east = before[r * columns + (c < columns - 1 ? c + 1 : c)];
            float delta = power[r * columns + c] + (south + north - 2.0f * here) * 0.1f;
            delta += (east + west - 2.0f * here) * 0.1f + (80.0f - here) * 0.05f;
            after[r * columns + c] = here + cap * delta;
        }
}

void hotspot(int64_t steps, const float *power, float *a, float *b, int64_t rows,
             int64_t columns) {
    for (int64_t t = 0; t < steps; t++) {
        hotspot_step(power, a, b, rows, columns, 0.5f);
        hotspot_step(power, b, a, rows, columns, 0.5f);
    }
}

void srad(float q0, const float *restrict image, float *restrict c, int64_t rows,
          int64_t columns) {
#pragma omp parallel for
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            float here = image[i * columns + j];
            float north = image[(i > 0 ? i - 1 : 0) * columns + j] - here;
            float south = image[(i < rows - 1 ? i + 1 : i) * columns + j] - here;
            float west = image[i * columns + (j > 0 ? j - 1 : 0)] - here;
            float east = image[i * columns + (j < columns - 1 ? j + 1 : j)] - here;
            float gradient = (north * north + south * south + west * west + east * east) /
                             (here * here);
            float laplace = (north + south + west + east) / here;
            float numerator = 0.5f * gradient - 0.0625f * (laplace * laplace);
            float denominator = 1.0f + 0.25f * laplace;
            float q = numerator / (denominator * denominator);
            float value = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
            value = value > 0.0f ? value : 0.0f;
            c[i * columns + j] = value < 1.0f ? value : 1.0f;
        }
}

void kmeans_assign(const float *restrict points, const float *restrict centres,
                   uint32_t *restrict nearest, int64_t n, int64_t dims, int64_t k_count) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float best = INFINITY;
        uint32_t where = 0;
        for (int64_t k = 0; k < k_count; k++) {
            float distance = 0.0f;
            for (int64_t d = 0; d < dims; d++) {
                float apart = points[i * dims + d] - centres[k * dims + d];
                distance += apart * apart;
            }
            if (distance < best) {
                best = distance;
                where = (uint32_t)k;
            }
        }
        nearest[i] = where;
    }
}

void gaussian(float *restrict a, float *restrict factor, int64_t n, int64_t columns) {
    for (int64_t t = 0; t < n - 1; t++) {
        for (int64_t i = t + 1; i < n; i++)
            factor[i] = a[i * columns + t] / a[t * columns + t];
#pragma omp parallel for
        for (int64_t i = t + 1; i < n; i++)
            for (int64_t j = t; j < columns; j++)
                a[i * columns + j] -= factor[i] * a[t * columns + j];
    }
}

void btree_lookup(int64_t depth, const uint32_t *restrict keys, const uint32_t *restrict children,
                  const uint32_t *restrict wanted, uint32_t *restrict found, int64_t n,
                  int64_t nodes, int64_t width) {
    (void)nodes;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t node = 0;
        for (int64_t d = 0; d < depth; d++) {
            int64_t slot = 0;
            while (slot < width && keys[node * width + slot] <= wanted[i])
                slot++;
            node = children[node * (width + 1) + slot];
        }
        found[i] = node;
    }
}

void backprop_adjust(const float *restrict delta, const float *restrict layer,
                     float *restrict weights, float *restrict momentum, int64_t rows,
                     int64_t columns) {
#pragma omp parallel for
    for (int64_t k = 0; k < rows; k++)
        for (int64_t j = 0; j < columns; j++) {
            float change = 0.3f * delta[j] * layer[k] + 0.3f * momentum[k * columns + j];
            weights[k * columns + j] += change;
            momentum[k * columns + j] = change;
        }
}

static void path_step(const int32_t *restrict wall, const int32_t *restrict before,
                      int32_t *restrict after, int64_t n) {
#pragma omp parallel for
    for (int64_t j = 0; j < n; j++) {
        int32_t best = before[j];
        if (j > 0 && before[j - 1] < best)
            best = before[j - 1];
        if (j < n - 1 && before[j + 1] < best)
            best = before[j + 1];
        after[j] = wall[j] + best;
    }
}

void pathfinder(const int32_t *wall, int32_t *a, int32_t *b, int64_t rows, int64_t n) {
    for (int64_t row = 0; row < rows; row += 2) {
        path_step(wall + row * n, a, b, n);
        path_step(wall + (row + 1) * n, b, a, n);
    }
}
