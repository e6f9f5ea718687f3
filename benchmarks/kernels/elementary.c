#include <math.h>
#include <stdint.h>

void exp_f32(const float *x, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        out[i] = expf(x[i]);
}

void sin_f32(const float *x, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        out[i] = sinf(x[i]);
}
