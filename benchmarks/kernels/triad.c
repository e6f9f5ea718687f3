#include <stdint.h>

void triad(float *a, const float *b, const float *c, float s, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
