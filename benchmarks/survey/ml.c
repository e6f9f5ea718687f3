#include <math.h>
#include <stdint.h>

#define HEAD 64

void softmax(const float *restrict x, float *restrict y, int64_t rows, int64_t n) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *in = x + row * n;
        float *out = y + row * n;
        float most = in[0], total = 0.0f;
        for (int64_t k = 1; k < n; k++)
            most = in[k] > most ? in[k] : most;
        for (int64_t k = 0; k < n; k++) {
            out[k] = expf(in[k] - most);
            total += out[k];
        }
        for (int64_t k = 0; k < n; k++)
            out[k] /= total;
    }
}

void layer_norm(const float *restrict x, const float *restrict scale, const float *restrict shift,
                float *restrict y, int64_t rows, int64_t n) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        const float *in = x + row * n;
        float total = 0.0f, spread = 0.0f;
        for (int64_t k = 0; k < n; k++)
            total += in[k];
        float mean = total / (float)n;
        for (int64_t k = 0; k < n; k++)
            spread += (in[k] - mean) * (in[k] - mean);
        float factor = 1.0f / sqrtf(spread / (float)n + 1e-5f);
        for (int64_t k = 0; k < n; k++)
            y[row * n + k] = (in[k] - mean) * factor * scale[k] + shift[k];
    }
}

void conv2d(const float *restrict image, const float *restrict weight, const float *restrict bias,
            float *restrict out, int64_t channels, int64_t ih, int64_t iw, int64_t outputs,
            int64_t h, int64_t w) {
#pragma omp parallel for collapse(2)
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) {
                float total = bias[o];
                for (int64_t c = 0; c < channels; c++)
                    for (int64_t v = 0; v < 3; v++)
                        for (int64_t u = 0; u < 3; u++)
                            total += image[(c * ih + y + v) * iw + x + u] *
                                     weight[(o * channels + c) * 9 + 3 * v + u];
                out[(o * h + y) * w + x] = total > 0.0f ? total : 0.0f;
            }
}

void attention(const float *restrict q, const float *restrict k, const float *restrict v,
               float *restrict out, int64_t n, int64_t head, int64_t m) {
    (void)head;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float sums[HEAD] = {0.0f};
        float most = -INFINITY, total = 0.0f;
        for (int64_t j = 0; j < m; j++) {
            float score = 0.0f;
            for (int64_t d = 0; d < HEAD; d++)
                score += q[i * HEAD + d] * k[j * HEAD + d];
            score *= 0.125f;
            float larger = score > most ? score : most;
            float old = expf(most - larger), new = expf(score - larger);
            total = total * old + new;
            for (int64_t d = 0; d < HEAD; d++)
                sums[d] = sums[d] * old + new * v[j * HEAD + d];
            most = larger;
        }
        for (int64_t d = 0; d < HEAD; d++)
            out[i * HEAD + d] = sums[d] / total;
    }
}

void quantise_rows(const float *restrict x, int8_t *restrict q, float *restrict scale,
                   int64_t rows, int64_t n) {
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++) {
        float most = 0.0f;
        for (int64_t k = 0; k < n; k++)
            most = fabsf(x[row * n + k]) > most ? fabsf(x[row * n + k]) : most;
        float factor = 127.0f / (most > 1e-12f ? most : 1e-12f);
        for (int64_t k = 0; k < n; k++)
            q[row * n + k] = (int8_t)rintf(x[row * n + k] * factor);
        scale[row] = most / 127.0f;
    }
}

void int8_linear(const int8_t *restrict x, const int8_t *restrict w, const float *restrict scale,
                 float *restrict y, int64_t n, int64_t depth, int64_t m) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            int32_t total = 0;
            for (int64_t k = 0; k < depth; k++)
                total += (int32_t)x[i * depth + k] * (int32_t)w[j * depth + k];
            y[i * m + j] = (float)total * scale[j];
        }
}

void max_pool(const float *restrict x, float *restrict y, int64_t channels, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < h; i++)
            for (int64_t j = 0; j < w; j++) {
                const float *corner = x + (c * 2 * h + 2 * i) * 2 * w + 2 * j;
                float most = corner[0];
                for (int64_t di = 0; di < 2; di++)
                    for (int64_t dj = 0; dj < 2; dj++)
                        most = corner[di * 2 * w + dj] > most ? corner[di * 2 * w + dj] : most;
                y[(c * h + i) * w + j] = most;
            }
}

void adam(float rate, const float *restrict gradient, float *restrict first,
          float *restrict second, float *restrict weight, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float g = gradient[i];
        first[i] = 0.9f * first[i] + 0.1f * g;
        second[i] = 0.999f * second[i] + 0.001f * g * g;
        weight[i] -= rate * first[i] / (sqrtf(second[i]) + 1e-8f);
    }
}

void gelu(const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + tanhf(0.7978846f * (v + 0.044715f * v * v * v)));
    }
}

void forest(const uint32_t *restrict root, const uint32_t *restrict left,
            const uint32_t *restrict right, const uint32_t *restrict feature,
            const float *restrict limit, const float *restrict value, const float *restrict x,
            float *restrict y, int64_t trees, int64_t features, int64_t n) {
    (void)features;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        for (int64_t tree = 0; tree < trees; tree++) {
            uint32_t node = root[tree];
            while (left[node] != 0)
                node = x[feature[node] * n + i] < limit[node] ? left[node] : right[node];
            total += value[node];
        }
        y[i] = total;
    }
}

void column_maxima(const uint8_t *restrict x, uint8_t *restrict most, int64_t rows, int64_t n) {
#pragma omp parallel for
    for (int64_t j = 0; j < n; j++) {
        uint8_t best = x[j];
        for (int64_t k = 1; k < rows; k++)
            best = x[k * n + j] > best ? x[k * n + j] : best;
        most[j] = best;
    }
}
