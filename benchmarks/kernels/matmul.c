#include <stdint.h>
#include <string.h>

void naive(const float *restrict a, const float *restrict b, float *restrict c, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float *row = c + i * n;
        memset(row, 0, (size_t)n * sizeof *row);
        for (int64_t k = 0; k < n; k++) {
            float x = a[i * n + k];
            for (int64_t j = 0; j < n; j++)
                row[j] += x * b[k * n + j];
        }
    }
}

/* The same tiles as the kernel: copied to where they stay in the cache, then multiplied. */
enum { SIDE = 32 };

void tiled(const float *restrict a, const float *restrict b, float *restrict c, int64_t n) {
#pragma omp parallel for collapse(2)
    for (int64_t i = 0; i < n; i += SIDE)
        for (int64_t j = 0; j < n; j += SIDE) {
            float left[SIDE][SIDE], right[SIDE][SIDE], sum[SIDE][SIDE] = {{0}};
            for (int64_t t = 0; t < n; t += SIDE) {
                for (int y = 0; y < SIDE; y++)
                    for (int x = 0; x < SIDE; x++) {
                        left[y][x] = a[(i + y) * n + t + x];
                        right[y][x] = b[(t + y) * n + j + x];
                    }
                for (int y = 0; y < SIDE; y++)
                    for (int k = 0; k < SIDE; k++)
                        for (int x = 0; x < SIDE; x++)
                            sum[y][x] += left[y][k] * right[k][x];
            }
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++)
                    c[(i + y) * n + j + x] = sum[y][x];
        }
}

/* Not plain loops any more: blocks of k that stay in cache, and a tile of sums that stays in registers.
   gcc keeps the tile there only when told that its innermost loop is a vector; 8 x 16 is the fastest
   of the shapes tried. */
enum { ROWS = 8, COLUMNS = 16, DEPTH = 256 };

void tuned(const float *restrict a, const float *restrict b, float *restrict c, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i += ROWS) {
        memset(c + i * n, 0, (size_t)(ROWS * n) * sizeof *c);
        for (int64_t from = 0; from < n; from += DEPTH) {
            int64_t to = from + DEPTH < n ? from + DEPTH : n;
            for (int64_t j = 0; j < n; j += COLUMNS) {
                float sum[ROWS][COLUMNS] = {{0}};
                for (int64_t k = from; k < to; k++)
                    for (int r = 0; r < ROWS; r++)
#pragma omp simd
                        for (int s = 0; s < COLUMNS; s++)
                            sum[r][s] += a[(i + r) * n + k] * b[k * n + j + s];
                for (int r = 0; r < ROWS; r++)
                    for (int s = 0; s < COLUMNS; s++)
                        c[(i + r) * n + j + s] += sum[r][s];
            }
        }
    }
}
