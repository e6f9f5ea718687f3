#include <stdint.h>
#include <stdlib.h>

void sobel(const uint8_t *restrict image, uint8_t *restrict edges, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 1; y < h - 1; y++)
        for (int64_t x = 1; x < w - 1; x++) {
            int32_t across = 0, down = 0;
            for (int64_t d = -1; d < 2; d++) {
                int32_t weight = 2 - abs((int)d);
                across += weight * (image[(y + d) * w + x + 1] - image[(y + d) * w + x - 1]);
                down += weight * (image[(y + 1) * w + x + d] - image[(y - 1) * w + x + d]);
            }
            int32_t sum = abs(across) + abs(down);
            edges[y * w + x] = (uint8_t)(sum < 255 ? sum : 255);
        }
}

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

static const uint32_t WEIGHTS[5] = {1, 4, 6, 4, 1};

void gaussian_blur(const uint8_t *restrict image, uint16_t *restrict between,
                   uint8_t *restrict out, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            uint32_t total = 0;
            for (int64_t k = 0; k < 5; k++)
                total += WEIGHTS[k] * image[y * w + clamped(x + k - 2, w)];
            between[y * w + x] = (uint16_t)total;
        }
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            uint32_t total = 128;
            for (int64_t k = 0; k < 5; k++)
                total += WEIGHTS[k] * between[clamped(y + k - 2, h) * w + x];
            out[y * w + x] = (uint8_t)(total >> 8);
        }
}

void resize_bilinear(const float *restrict image, float *restrict out, int64_t ih, int64_t iw,
                     int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float sy = (float)y * (float)(ih - 1) / (float)(h - 1);
            float sx = (float)x * (float)(iw - 1) / (float)(w - 1);
            int32_t top = (int32_t)sy, left = (int32_t)sx;
            float fy = sy - (float)top, fx = sx - (float)left;
            int64_t bottom = top + 1 < ih - 1 ? top + 1 : ih - 1;
            int64_t right = left + 1 < iw - 1 ? left + 1 : iw - 1;
            float upper = image[top * iw + left] * (1.0f - fx) + image[top * iw + right] * fx;
            float lower = image[bottom * iw + left] * (1.0f - fx) + image[bottom * iw + right] * fx;
            out[y * w + x] = upper * (1.0f - fy) + lower * fy;
        }
}

void dilate(int64_t radius, const uint8_t *restrict image, uint8_t *restrict out, int64_t h,
            int64_t w) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            int64_t v0 = y > radius ? y - radius : 0, v1 = y + radius + 1 < h ? y + radius + 1 : h;
            int64_t u0 = x > radius ? x - radius : 0, u1 = x + radius + 1 < w ? x + radius + 1 : w;
            uint8_t best = 0;
            for (int64_t v = v0; v < v1; v++)
                for (int64_t u = u0; u < u1; u++)
                    if (image[v * w + u] > best)
                        best = image[v * w + u];
            out[y * w + x] = best;
        }
}

void alpha_blend(const uint8_t *restrict front, const uint8_t *restrict back,
                 uint8_t *restrict out, int64_t h, int64_t w, int64_t channels) {
    (void)channels;
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            int64_t at = y * w + x;
            uint32_t alpha = front[4 * at + 3];
            for (int64_t c = 0; c < 3; c++) {
                uint32_t mixed = front[4 * at + c] * alpha + back[3 * at + c] * (255 - alpha);
                out[3 * at + c] = (uint8_t)((mixed + 127) / 255);
            }
        }
}

void bayer_green(const uint16_t *restrict raw, uint16_t *restrict green, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 1; y < h - 1; y++)
        for (int64_t x = 1; x < w - 1; x++) {
            int64_t at = y * w + x;
            if ((x + y) % 2 == 1) {
                green[at] = raw[at];
            } else {
                int32_t up = raw[at - w], down = raw[at + w], left = raw[at - 1], right = raw[at + 1];
                if (abs(up - down) < abs(left - right))
                    green[at] = (uint16_t)((up + down) / 2);
                else
                    green[at] = (uint16_t)((left + right) / 2);
            }
        }
}

void integral_image(const uint8_t *restrict image, uint32_t *restrict out, int64_t h, int64_t w) {
#pragma omp parallel for
    for (int64_t y = 0; y < h; y++) {
        uint32_t total = 0;
        for (int64_t x = 0; x < w; x++) {
            total += image[y * w + x];
            out[y * w + x] = total;
        }
    }
#pragma omp parallel for
    for (int64_t block = 0; block < w; block += 256) {
        int64_t end = block + 256 < w ? block + 256 : w;
        for (int64_t y = 1; y < h; y++)
            for (int64_t x = block; x < end; x++)
                out[y * w + x] += out[(y - 1) * w + x];
    }
}
