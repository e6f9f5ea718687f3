#include <math.h>
#include <stdint.h>

enum { GROUP = 256, CHUNK = 4096 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void group_totals(const uint32_t *restrict x, uint32_t *restrict total, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        uint32_t sum = 0;
        for (int64_t i = first; i < least(first + GROUP, n); i++)
            sum += x[i];
        total[first / GROUP] = sum;
    }
}

void group_prefix(const uint32_t *restrict x, uint32_t *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        uint32_t sum = 0;
        for (int64_t i = first; i < least(first + GROUP, n); i++) {
            sum += x[i];
            y[i] = sum;
        }
    }
}

void group_highest(const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        float highest = -INFINITY;
        for (int64_t i = first; i < least(first + GROUP, n); i++) {
            y[i] = highest;
            highest = x[i] > highest ? x[i] : highest;
        }
    }
}

void group_compact(const float *restrict x, float *restrict y, uint32_t *restrict count,
                   int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += GROUP) {
        int64_t kept = 0;
        for (int64_t i = first; i < least(first + GROUP, n); i++)
            if (x[i] > 0.5f)
                y[first + kept++] = x[i];
        count[first / GROUP] = (uint32_t)kept;
    }
}

void chunk_filter(const uint32_t *restrict x, uint32_t *restrict y, uint32_t *restrict count,
                  int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t kept = 0;
        for (int64_t i = first; i < least(first + CHUNK, n); i++)
            if (x[i] < 1u << 30)
                y[first + kept++] = x[i];
        count[first / CHUNK] = (uint32_t)kept;
    }
}

void line_masks(const uint8_t *restrict text, uint32_t *restrict mask, int64_t n) {
#pragma omp parallel for
    for (int64_t first = 0; first < n; first += 32) {
        uint32_t found = 0;
        for (int64_t k = 0; k < least(32, n - first); k++)
            found |= (uint32_t)(text[first + k] == '\n') << k;
        mask[first / 32] = found;
    }
}
