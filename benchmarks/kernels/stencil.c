#include <stdint.h>

void stencil(const float *restrict in, float *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            out[i * n + j] = 0.2f * (in[i * n + j] + in[(i - 1) * n + j] + in[(i + 1) * n + j] +
                                     in[i * n + j - 1] + in[i * n + j + 1]);
}
