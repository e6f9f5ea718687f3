#include <stdint.h>
#include <string.h>

void histogram(const uint8_t *x, uint32_t *bins, int64_t n) {
    memset(bins, 0, 256 * sizeof *bins);
#pragma omp parallel for reduction(+ : bins[ : 256])
    for (int64_t i = 0; i < n; i++)
        bins[x[i]]++;
}
