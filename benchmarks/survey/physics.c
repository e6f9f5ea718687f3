#include <math.h>
#include <stdint.h>

static const int DX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int DY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const float WEIGHTS[9] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                                 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

static int64_t wrapped(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

void lbm_d2q9(float omega, const float *restrict before, float *restrict after, int64_t planes,
              int64_t h, int64_t w) {
    (void)planes;
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float f[9], density = 0.0f, across = 0.0f, down = 0.0f;
            for (int k = 0; k < 9; k++) {
                f[k] = before[(k * h + wrapped(y - DY[k], h)) * w + wrapped(x - DX[k], w)];
                density += f[k];
                across += (float)DX[k] * f[k];
                down += (float)DY[k] * f[k];
            }
            across /= density;
            down /= density;
            float squared = 1.5f * (across * across + down * down);
            for (int k = 0; k < 9; k++) {
                float along = 3.0f * ((float)DX[k] * across + (float)DY[k] * down);
                float balance =
                    WEIGHTS[k] * density * (1.0f + along + 0.5f * along * along - squared);
                after[(k * h + y) * w + x] = f[k] + omega * (balance - f[k]);
            }
        }
}

/* Outside of the field is zero. */
static float at(const float *field, int64_t y, int64_t x, int64_t h, int64_t w) {
    return y < 0 || y >= h || x < 0 || x >= w ? 0.0f : field[y * w + x];
}

static void wave_step(float c2, const float *restrict last, const float *restrict now,
                      float *restrict following, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float around = at(now, y - 1, x, h, w) + at(now, y + 1, x, h, w) +
                           at(now, y, x - 1, h, w) + at(now, y, x + 1, h, w);
            float here = now[y * w + x];
            following[y * w + x] = 2.0f * here - last[y * w + x] + c2 * (around - 4.0f * here);
        }
}

void wave_2d(int64_t steps, float *a, float *b, float *c, int64_t h, int64_t w) {
    for (int64_t t = 0; t < steps; t++) {
        wave_step(0.2f, a, b, c, h, w);
        wave_step(0.2f, b, c, a, h, w);
        wave_step(0.2f, c, a, b, h, w);
    }
}

void sph_density(float radius, const uint32_t *restrict first, const float *restrict place,
                 const int32_t *restrict cell, int64_t side, float *restrict density, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float x = place[i], y = place[n + i], total = 0.0f;
        int64_t y0 = cell[n + i] > 0 ? cell[n + i] - 1 : 0;
        int64_t y1 = cell[n + i] + 2 < side ? cell[n + i] + 2 : side;
        int64_t x0 = cell[i] > 0 ? cell[i] - 1 : 0;
        int64_t x1 = cell[i] + 2 < side ? cell[i] + 2 : side;
        for (int64_t cy = y0; cy < y1; cy++)
            for (int64_t cx = x0; cx < x1; cx++) {
                int64_t c = cy * side + cx;
                for (uint32_t j = first[c]; j < first[c + 1]; j++) {
                    float dx = place[j] - x, dy = place[n + j] - y;
                    float left = radius * radius - dx * dx - dy * dy;
                    if (left > 0.0f)
                        total += left * left * left;
                }
            }
        density[i] = total;
    }
}

void lennard_jones(const uint32_t *restrict near, const float *restrict place,
                   float *restrict force, int64_t n, int64_t neighbours) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float x = place[i], y = place[n + i], z = place[2 * n + i];
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
        for (int64_t k = 0; k < neighbours; k++) {
            uint32_t j = near[i * neighbours + k];
            float dx = x - place[j], dy = y - place[n + j], dz = z - place[2 * n + j];
            float squared = dx * dx + dy * dy + dz * dz;
            if (squared < 6.25f) {
                float inverse = 1.0f / squared;
                float sixth = inverse * inverse * inverse;
                float strength = 48.0f * inverse * sixth * (sixth - 0.5f);
                fx += strength * dx;
                fy += strength * dy;
                fz += strength * dz;
            }
        }
        force[i] = fx;
        force[n + i] = fy;
        force[2 * n + i] = fz;
    }
}

void ising(const float *restrict chance, const float *restrict luck, int8_t *restrict spin,
           int64_t h, int64_t w) {
    for (int64_t colour = 0; colour < 2; colour++) {
#pragma omp parallel for
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++)
                if ((x + y) % 2 == colour) {
                    int around = spin[wrapped(y - 1, h) * w + x] + spin[wrapped(y + 1, h) * w + x] +
                                 spin[y * w + wrapped(x - 1, w)] + spin[y * w + wrapped(x + 1, w)];
                    int agree = (around * spin[y * w + x] + 4) / 2;
                    if (luck[y * w + x] < chance[agree])
                        spin[y * w + x] = (int8_t)-spin[y * w + x];
                }
    }
}

void cloth(float dt, const float *restrict place, const float *restrict last,
           float *restrict moved, int64_t axes, int64_t h, int64_t w) {
    static const int DR[4] = {-1, 1, 0, 0}, DC[4] = {0, 0, -1, 1};
    (void)axes;
    int64_t plane = h * w;
#pragma omp parallel for
    for (int64_t r = 0; r < h; r++)
        for (int64_t c = 0; c < w; c++) {
            int64_t here = r * w + c;
            float x = place[here], y = place[plane + here], z = place[2 * plane + here];
            float fx = 0.0f, fy = -9.81f, fz = 0.0f;
            for (int k = 0; k < 4; k++) {
                int64_t row = r + DR[k], column = c + DC[k];
                if (row >= 0 && row < h && column >= 0 && column < w) {
                    int64_t other = row * w + column;
                    float dx = place[other] - x, dy = place[plane + other] - y;
                    float dz = place[2 * plane + other] - z;
                    float length = sqrtf(dx * dx + dy * dy + dz * dz);
                    float pull = 40.0f * (length - 1.0f) / length;
                    fx += pull * dx;
                    fy += pull * dy;
                    fz += pull * dz;
                }
            }
            moved[here] = 2.0f * x - last[here] + fx * dt * dt;
            moved[plane + here] = 2.0f * y - last[plane + here] + fy * dt * dt;
            moved[2 * plane + here] = 2.0f * z - last[2 * plane + here] + fz * dt * dt;
        }
}

void implicit_heat(float r, const float *restrict before, float *restrict work,
                   float *restrict after, int64_t n, int64_t w) {
    float diagonal = 1.0f + 2.0f * r;
#pragma omp parallel for
    for (int64_t block = 0; block < w; block += 256) {
        int64_t end = block + 256 < w ? block + 256 : w;
        for (int64_t j = block; j < end; j++) {
            work[j] = -r / diagonal;
            after[j] = before[j] / diagonal;
        }
        for (int64_t i = 1; i < n; i++)
            for (int64_t j = block; j < end; j++) {
                float pivot = diagonal + r * work[(i - 1) * w + j];
                work[i * w + j] = -r / pivot;
                after[i * w + j] = (before[i * w + j] + r * after[(i - 1) * w + j]) / pivot;
            }
        for (int64_t i = n - 2; i >= 0; i--)
            for (int64_t j = block; j < end; j++)
                after[i * w + j] -= work[i * w + j] * after[(i + 1) * w + j];
    }
}
