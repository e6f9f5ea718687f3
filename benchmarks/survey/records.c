#include <stdbool.h>
#include <stdint.h>

#define HEADER 20
#define LINE 30
#define WORDS 8

void particle_steps(float dt, float gravity, float *restrict p, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < length / 6; i++) {
        float vx = p[6 * i + 3], vy = p[6 * i + 4], vz = p[6 * i + 5];
        vy -= gravity * dt;
        float x = p[6 * i] + vx * dt;
        float y = p[6 * i + 1] + vy * dt;
        float z = p[6 * i + 2] + vz * dt;
        if (y < 0.0f) {
            y = -y;
            vy = -0.9f * vy;
        }
        p[6 * i] = x;
        p[6 * i + 1] = y;
        p[6 * i + 2] = z;
        p[6 * i + 4] = vy;
    }
}

void kinetic_energies(const float *restrict p, const float *restrict mass, float *restrict energy,
                      int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float vx = p[6 * i + 3], vy = p[6 * i + 4], vz = p[6 * i + 5];
        energy[i] = 0.5f * mass[i] * (vx * vx + vy * vy + vz * vz);
    }
}

void rgba_to_grey(const uint8_t *restrict pixels, uint8_t *restrict grey, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t r = pixels[4 * i], g = pixels[4 * i + 1], b = pixels[4 * i + 2];
        grey[i] = (uint8_t)((77 * r + 150 * g + 29 * b) >> 8);
    }
}

void rgb_to_grey(const uint8_t *restrict pixels, uint8_t *restrict grey, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint8_t r = pixels[3 * i], g = pixels[3 * i + 1], b = pixels[3 * i + 2];
        grey[i] = (uint8_t)(0.299f * (float)r + 0.587f * (float)g + 0.114f * (float)b);
    }
}

void grey_to_rgba(const uint8_t *restrict grey, uint8_t *restrict pixels, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < 3; c++)
            pixels[4 * i + c] = grey[i];
        pixels[4 * i + 3] = 255;
    }
}

void tint_rgb(int64_t red, int64_t green, int64_t blue, const uint8_t *restrict grey,
              uint8_t *restrict pixels, int64_t n) {
    uint32_t r = (uint32_t)red, g = (uint32_t)green, b = (uint32_t)blue;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t value = grey[i];
        pixels[3 * i] = (uint8_t)(r * value / 255);
        pixels[3 * i + 1] = (uint8_t)(g * value / 255);
        pixels[3 * i + 2] = (uint8_t)(b * value / 255);
    }
}

static uint32_t at_most_255(uint32_t x) { return x < 255 ? x : 255; }

void brighten_words(int64_t amount, uint32_t *restrict image, int64_t n) {
    uint32_t percent = (uint32_t)amount;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t pixel = image[i];
        uint32_t r = at_most_255((pixel & 0xFF) * percent / 100);
        uint32_t g = at_most_255((pixel >> 8 & 0xFF) * percent / 100);
        uint32_t b = at_most_255((pixel >> 16 & 0xFF) * percent / 100);
        image[i] = (pixel & 0xFF000000) | b << 16 | g << 8 | r;
    }
}

void complex_products(const float *restrict a, const float *restrict b, float *restrict out,
                      int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < length / 2; i++) {
        float ar = a[2 * i], ai = a[2 * i + 1], br = b[2 * i], bi = b[2 * i + 1];
        out[2 * i] = ar * br - ai * bi;
        out[2 * i + 1] = ar * bi + ai * br;
    }
}

static uint16_t big_endian_16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static uint32_t big_endian_32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void ip_headers(const uint8_t *restrict data, uint16_t *restrict length,
                uint8_t *restrict protocol, uint32_t *restrict source, uint32_t *restrict target,
                int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *header = data + HEADER * i;
        length[i] = big_endian_16(header + 2);
        protocol[i] = header[9];
        source[i] = big_endian_32(header + 12);
        target[i] = big_endian_32(header + 16);
    }
}

void ip_checksums(const uint8_t *restrict data, uint16_t *restrict checksum, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t total = 0;
        for (int64_t k = 0; k < HEADER; k += 2)
            if (k != 10)
                total += (uint32_t)data[HEADER * i + k] << 8 | data[HEADER * i + k + 1];
        while (total >> 16 != 0)
            total = (total & 0xFFFF) + (total >> 16);
        checksum[i] = (uint16_t)(~total & 0xFFFF);
    }
}

void fixed_fields(const uint8_t *restrict text, uint32_t *restrict number,
                  int32_t *restrict cents, uint16_t *restrict pieces, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *line = text + LINE * i;
        uint32_t id = 0;
        for (int64_t k = 0; k < 8; k++)
            id = id * 10 + (uint32_t)(line[k] - '0');
        number[i] = id;
        int32_t price = 0;
        bool negative = false;
        for (int64_t k = 9; k < 18; k++) {
            uint8_t c = line[k];
            if (c == '-')
                negative = true;
            else if (c >= '0' && c <= '9')
                price = price * 10 + (c - '0');
        }
        cents[i] = negative ? -price : price;
        uint16_t count = 0;
        for (int64_t k = 19; k < 25; k++) {
            uint8_t c = line[k];
            if (c != ' ')
                count = (uint16_t)(count * 10 + (c - '0'));
        }
        pieces[i] = count;
    }
}

void rotations(const float *restrict q, const float *restrict v, float *restrict out, int64_t n,
               int64_t axes) {
    (void)axes;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float w = q[4 * i], x = q[4 * i + 1], y = q[4 * i + 2], z = q[4 * i + 3];
        float a = v[3 * i], b = v[3 * i + 1], c = v[3 * i + 2];
        float tx = 2.0f * (y * c - z * b);
        float ty = 2.0f * (z * a - x * c);
        float tz = 2.0f * (x * b - y * a);
        out[3 * i] = a + w * tx + (y * tz - z * ty);
        out[3 * i + 1] = b + w * ty + (z * tx - x * tz);
        out[3 * i + 2] = c + w * tz + (x * ty - y * tx);
    }
}

static float lesser(float a, float b) { return a < b ? a : b; }
static float greater(float a, float b) { return a > b ? a : b; }

void triangle_boxes(const float *restrict corners, float *restrict box, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < length / 9; i++)
        for (int64_t axis = 0; axis < 3; axis++) {
            float a = corners[9 * i + axis];
            float b = corners[9 * i + 3 + axis];
            float c = corners[9 * i + 6 + axis];
            box[6 * i + axis] = lesser(a, lesser(b, c));
            box[6 * i + 3 + axis] = greater(a, greater(b, c));
        }
}

void triangle_normals(const float *restrict corners, float *restrict normal, int64_t n,
                      int64_t axes) {
    (void)axes;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const float *t = corners + 9 * i;
        float ux = t[3] - t[0], uy = t[4] - t[1], uz = t[5] - t[2];
        float wx = t[6] - t[0], wy = t[7] - t[1], wz = t[8] - t[2];
        normal[3 * i] = uy * wz - uz * wy;
        normal[3 * i + 1] = uz * wx - ux * wz;
        normal[3 * i + 2] = ux * wy - uy * wx;
    }
}

void little_endian_sums(const uint8_t *restrict data, uint64_t *restrict total, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint64_t result = 0;
        for (int64_t word = 0; word < WORDS; word++) {
            uint64_t value = 0;
            for (int64_t k = 0; k < 8; k++)
                value |= (uint64_t)data[(i * WORDS + word) * 8 + k] << (8 * k);
            result += value;
        }
        total[i] = result;
    }
}

void samples_24_bit(const uint8_t *restrict data, float *restrict left, float *restrict right,
                    int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *p = data + 6 * i;
        int32_t a = p[0] | p[1] << 8 | p[2] << 16;
        int32_t b = p[3] | p[4] << 8 | p[5] << 16;
        if (a >= 8388608)
            a -= 16777216;
        if (b >= 8388608)
            b -= 16777216;
        left[i] = (float)a / 8388608.0f;
        right[i] = (float)b / 8388608.0f;
    }
}

void flat_row_norms(uint32_t length, const float *restrict x, float *restrict y, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        float total = 0.0f;
        for (int64_t p = i * length; p < (i + 1) * length; p++)
            total += x[p] * x[p];
        y[i] = total;
    }
}
