#include <stdint.h>

void mandelbrot(uint32_t *out, int64_t n, int64_t limit) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int64_t row = 0; row < n; row++)
        for (int64_t column = 0; column < n; column++) {
            float cx = -2.0f + 3.0f * (float)column / (float)n;
            float cy = -1.5f + 3.0f * (float)row / (float)n;
            float x = 0, y = 0;
            uint32_t k = 0;
            while (k < limit && x * x + y * y <= 4.0f) {
                float t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
                k++;
            }
            out[row * n + column] = k;
        }
}
