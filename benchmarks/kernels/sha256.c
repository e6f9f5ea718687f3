#include <stdint.h>

static inline uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(uint32_t *h, const uint32_t *block, const uint32_t *constants) {
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = block[t];
    for (int t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[t - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
    for (int t = 0; t < 64; t++) {
        uint32_t s = k + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) +
                     constants[t] + w[t];
        uint32_t m = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                     ((a & b) ^ (a & c) ^ (b & c));
        k = g, g = f, f = e, e = d + s, d = c, c = b, b = a, a = s + m;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += k;
}

/* Messages of 64 bytes as big-endian words; the second block is padding and length. */
void sha256(const uint32_t *messages, const uint32_t *constants, const uint32_t *initial,
            uint32_t *digests, int64_t n) {
    static const uint32_t padding[16] = {[0] = 0x80000000, [15] = 512};
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t h[8];
        for (int t = 0; t < 8; t++)
            h[t] = initial[t];
        compress(h, messages + 16 * i, constants);
        compress(h, padding, constants);
        for (int t = 0; t < 8; t++)
            digests[8 * i + t] = h[t];
    }
}
