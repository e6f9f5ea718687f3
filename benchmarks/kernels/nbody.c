#include <math.h>
#include <stdint.h>

void nbody(const float *px, const float *py, const float *pz, const float *mass, float *ax,
           float *ay, float *az, float softening, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float x = px[i], y = py[i], z = pz[i], fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
        for (int64_t j = 0; j < n; j++) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            float w = mass[j] * r * r * r;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        ax[i] = fx;
        ay[i] = fy;
        az[i] = fz;
    }
}
