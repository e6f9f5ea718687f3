#include <math.h>
#include <stdint.h>
#include <string.h>

#define GROUP 256
#define TILE 16
#define RADIUS 4
#define SIZE 16
#define ROUNDS 60

void matrix_add(const float *restrict a, const float *restrict b, float *restrict c, int64_t n,
                int64_t m) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            c[i * m + j] = a[i * m + j] + b[i * m + j];
}

void naive_product(const float *restrict a, const float *restrict b, float *restrict c, int64_t n,
                   int64_t inner, int64_t same, int64_t m) {
    (void)same;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float total = 0.0f;
            for (int64_t k = 0; k < inner; k++)
                total += a[i * inner + k] * b[k * m + j];
            c[i * m + j] = total;
        }
}

void default_product(const float *restrict a, const float *restrict b, float *restrict c, int64_t n,
                     int64_t inner, int64_t same, int64_t m) {
    naive_product(a, b, c, n, inner, same, m);
}

void brighten_channels(float gain, const float *restrict image, float *restrict out, int64_t h,
                       int64_t w, int64_t channels) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++)
            for (int64_t c = 0; c < channels; c++) {
                int64_t at = (y * w + x) * channels + c;
                out[at] = image[at] * gain + 1.0f;
            }
}

void mean_of_channels(const uint8_t *restrict image, uint8_t *restrict out, int64_t h, int64_t w,
                      int64_t channels) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            uint32_t total = 0;
            for (int64_t c = 0; c < channels; c++)
                total += image[(y * w + x) * channels + c];
            out[y * w + x] = (uint8_t)(total / (uint32_t)channels);
        }
}

void moving_average(uint32_t radius, const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t i = radius; i < n - (int64_t)radius; i++) {
        float total = 0.0f;
        for (int64_t k = i - radius; k <= i + radius; k++)
            total += x[k];
        y[i] = total / (float)(2 * radius + 1);
    }
}

void tiled_product(const float *restrict a, const float *restrict b, float *restrict c, int64_t n,
                   int64_t inner, int64_t same, int64_t m) {
    (void)same;
#pragma omp parallel for
    for (int64_t row0 = 0; row0 < n; row0 += TILE)
        for (int64_t column0 = 0; column0 < m; column0 += TILE) {
            float left[TILE][TILE], right[TILE][TILE], total[TILE][TILE] = {{0.0f}};
            for (int64_t start = 0; start < inner; start += TILE) {
                for (int64_t y = 0; y < TILE; y++)
                    for (int64_t x = 0; x < TILE; x++) {
                        int64_t row = row0 + y, inside = start + x;
                        left[y][x] = row < n && inside < inner ? a[row * inner + inside] : 0.0f;
                    }
                for (int64_t y = 0; y < TILE; y++)
                    for (int64_t x = 0; x < TILE; x++) {
                        int64_t inside = start + y, column = column0 + x;
                        right[y][x] = inside < inner && column < m ? b[inside * m + column] : 0.0f;
                    }
                for (int64_t y = 0; y < TILE; y++)
                    for (int64_t x = 0; x < TILE; x++)
                        for (int64_t k = 0; k < TILE; k++)
                            total[y][x] += left[y][k] * right[k][x];
            }
            for (int64_t y = 0; y < TILE && row0 + y < n; y++)
                for (int64_t x = 0; x < TILE && column0 + x < m; x++)
                    c[(row0 + y) * m + column0 + x] = total[y][x];
        }
}

void vector_add(int64_t n, const float *restrict a, const float *restrict b, float *restrict c) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

void stride_saxpy(int64_t n, float a, const float *restrict x, float *restrict y) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

void atomic_sum(const float *restrict x, float *restrict total, int64_t n) {
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    total[0] += sum;
}

/* In vyre every invocation has a sum of its own, so C may have several, too. */
void stride_dot(const float *restrict x, const float *restrict y, float *restrict total,
                int64_t n) {
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    total[0] += sum;
}

void dot_in_groups(const float *restrict x, const float *restrict y, float *restrict parts,
                   int64_t n, int64_t groups) {
#pragma omp parallel for
    for (int64_t group = 0; group < groups; group++) {
        float cache[GROUP] = {0.0f};
        for (int64_t start = group * GROUP; start < n; start += groups * GROUP) {
            int64_t count = n - start < GROUP ? n - start : GROUP;
            for (int64_t lane = 0; lane < count; lane++)
                cache[lane] += x[start + lane] * y[start + lane];
        }
        for (int64_t i = GROUP / 2; i != 0; i /= 2)
            for (int64_t lane = 0; lane < i; lane++)
                cache[lane] += cache[lane + i];
        parts[group] = cache[0];
    }
}

void tree_sum(const float *restrict x, float *restrict sums, int64_t n, int64_t groups) {
#pragma omp parallel for
    for (int64_t group = 0; group < groups; group++) {
        float part[GROUP];
        for (int64_t lane = 0; lane < GROUP; lane++) {
            int64_t i = group * GROUP + lane;
            part[lane] = i < n ? x[i] : 0.0f;
        }
        for (int64_t step = GROUP / 2; step > 0; step /= 2)
            for (int64_t lane = 0; lane < step; lane++)
                part[lane] += part[lane + step];
        sums[group] = part[0];
    }
}

void tiled_transpose(const float *restrict x, float *restrict out, int64_t rows,
                     int64_t columns) {
#pragma omp parallel for
    for (int64_t row0 = 0; row0 < rows; row0 += TILE)
        for (int64_t column0 = 0; column0 < columns; column0 += TILE) {
            float tile[TILE][TILE + 1];
            int64_t high = rows - row0 < TILE ? rows - row0 : TILE;
            int64_t wide = columns - column0 < TILE ? columns - column0 : TILE;
            for (int64_t i = 0; i < high; i++)
                for (int64_t j = 0; j < wide; j++)
                    tile[i][j] = x[(row0 + i) * columns + column0 + j];
            for (int64_t j = 0; j < wide; j++)
                for (int64_t i = 0; i < high; i++)
                    out[(column0 + j) * rows + row0 + i] = tile[i][j];
        }
}

void shared_histogram(int64_t groups, const uint8_t *restrict data, uint32_t *restrict counts,
                      int64_t n) {
#pragma omp parallel for
    for (int64_t group = 0; group < groups; group++) {
        uint32_t own[256] = {0};
        for (int64_t start = group * GROUP; start < n; start += groups * GROUP) {
            int64_t end = start + GROUP < n ? start + GROUP : n;
            for (int64_t i = start; i < end; i++)
                own[data[i]]++;
        }
        for (int64_t k = 0; k < 256; k++)
            __atomic_fetch_add(&counts[k], own[k], __ATOMIC_RELAXED);
    }
}

void normalise_planes(const float *restrict image, const float *restrict mean,
                      const float *restrict deviation, float *restrict out, int64_t channels,
                      int64_t h, int64_t w) {
    for (int64_t c = 0; c < channels; c++) {
#pragma omp parallel for
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) {
                int64_t at = (c * h + y) * w + x;
                out[at] = (image[at] / 255.0f - mean[c]) / deviation[c];
            }
    }
}

void bitonic_blocks(uint32_t *restrict x, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        uint32_t block[GROUP];
        int64_t count = n - first < GROUP ? n - first : GROUP;
        memcpy(block, x + first, (size_t)count * sizeof(uint32_t));
        for (int64_t i = count; i < GROUP; i++)
            block[i] = 0xFFFFFFFF;
        for (int32_t k = 2; k <= GROUP; k *= 2)
            for (int32_t j = k / 2; j > 0; j /= 2)
                for (int32_t lane = 0; lane < GROUP; lane++) {
                    int32_t other = lane ^ j;
                    if (other > lane) {
                        uint32_t a = block[lane], b = block[other];
                        if (((lane & k) == 0 && a > b) || ((lane & k) != 0 && a < b)) {
                            block[lane] = b;
                            block[other] = a;
                        }
                    }
                }
        memcpy(x + first, block, (size_t)count * sizeof(uint32_t));
    }
}

void odd_even_blocks(float *restrict x, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += 128) {
        float block[128];
        int64_t count = n - first < 128 ? n - first : 128;
        memcpy(block, x + first, (size_t)count * sizeof(float));
        for (int64_t i = count; i < 128; i++)
            block[i] = INFINITY;
        for (int32_t phase = 0; phase < 128; phase++)
            for (int32_t left = phase % 2; left + 1 < 128; left += 2)
                if (block[left] > block[left + 1]) {
                    float kept = block[left];
                    block[left] = block[left + 1];
                    block[left + 1] = kept;
                }
        memcpy(x + first, block, (size_t)count * sizeof(float));
    }
}

void prime_test(const uint32_t *restrict numbers, uint8_t *restrict prime, int64_t count) {
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        uint32_t n = numbers[i];
        uint8_t is_prime = n >= 2;
        for (uint32_t d = 2; d * d <= n; d++)
            if (n % d == 0) {
                is_prime = 0;
                break;
            }
        prime[i] = is_prime;
    }
}

void tree_ranges(const int32_t *restrict key, const int32_t *restrict left,
                 const int32_t *restrict right, const int32_t *restrict low,
                 const int32_t *restrict high, int32_t *restrict total, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        int32_t stack[64], found = 0, top = 1;
        stack[0] = 0;
        while (top > 0) {
            int32_t node = stack[--top];
            if (low[i] <= key[node] && key[node] <= high[i])
                found += key[node];
            if (left[node] >= 0 && key[node] > low[i])
                stack[top++] = left[node];
            if (right[node] >= 0 && key[node] < high[i])
                stack[top++] = right[node];
        }
        total[i] = found;
    }
}

void small_lu(float *restrict a, int64_t n, int64_t rows, int64_t columns) {
    (void)rows;
    (void)columns;
#pragma omp parallel for
    for (int64_t which = 0; which < n; which++) {
        float m[SIZE][SIZE];
        memcpy(m, a + which * SIZE * SIZE, sizeof m);
        for (int64_t k = 0; k < SIZE - 1; k++) {
            for (int64_t y = k + 1; y < SIZE; y++)
                m[y][k] = m[y][k] / m[k][k];
            for (int64_t y = k + 1; y < SIZE; y++)
                for (int64_t x = k + 1; x < SIZE; x++)
                    m[y][x] -= m[y][k] * m[k][x];
        }
        memcpy(a + which * SIZE * SIZE, m, sizeof m);
    }
}

void block_scan(const float *restrict x, float *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        float t[GROUP] = {0.0f}, before[GROUP];
        int64_t count = n - first < GROUP ? n - first : GROUP;
        memcpy(t, x + first, (size_t)count * sizeof(float));
        for (int64_t step = 1; step < GROUP; step *= 2) {
            memcpy(before, t, sizeof t);
            for (int64_t lane = step; lane < GROUP; lane++)
                t[lane] += before[lane - step];
        }
        memcpy(out + first, t, (size_t)count * sizeof(float));
    }
}

void halo_convolution(const float *restrict x, const float *restrict weights, float *restrict out,
                      int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        float tile[GROUP + 2 * RADIUS];
        for (int64_t k = 0; k < GROUP + 2 * RADIUS; k++) {
            int64_t i = first + k - RADIUS;
            tile[k] = i >= 0 && i < n ? x[i] : 0.0f;
        }
        int64_t count = n - first < GROUP ? n - first : GROUP;
        for (int64_t lane = 0; lane < count; lane++) {
            float total = 0.0f;
            for (int64_t k = 0; k < 2 * RADIUS + 1; k++)
                total += weights[k] * tile[lane + k];
            out[first + lane] = total;
        }
    }
}

void julia(float cx, float cy, int32_t *restrict image, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++) {
            float x = 1.5f * ((float)w / 2.0f - (float)j) / ((float)w / 2.0f);
            float y = 1.5f * ((float)h / 2.0f - (float)i) / ((float)h / 2.0f);
            int32_t rounds = 0;
            while (rounds < ROUNDS && x * x + y * y < 1000.0f) {
                float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
                rounds++;
            }
            image[i * w + j] = rounds;
        }
}

void game_of_life(const int32_t *restrict cells, int32_t *restrict after, int64_t h, int64_t w) {
    int32_t rows = (int32_t)h, columns = (int32_t)w;
#pragma omp parallel for
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            int32_t alive = 0;
            for (int32_t di = -1; di < 2; di++)
                for (int32_t dj = -1; dj < 2; dj++)
                    if (di != 0 || dj != 0) {
                        int32_t row = (i + di + rows) % rows;
                        int32_t column = (j + dj + columns) % columns;
                        alive += cells[row * columns + column];
                    }
            int32_t cell = cells[i * columns + j];
            after[i * columns + j] = alive == 3 || (alive == 2 && cell == 1);
        }
}
