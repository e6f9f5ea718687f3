#include <stdint.h>

void sum_u32(const uint32_t *x, uint32_t *out, int64_t n) {
    uint32_t s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        s += x[i];
    *out = s;
}

/* The simd clause allows the reordering that every parallel float sum does anyway. */
void sum_f32(const float *x, float *out, int64_t n) {
    float s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        s += x[i];
    *out = s;
}
