#include <stdint.h>
#include <string.h>

static uint32_t rotl(uint32_t x, int k) { return x << k | x >> (32 - k); }
static uint64_t rotl64(uint64_t x, int k) { return x << k | x >> (64 - k); }

void fnv1a(const uint8_t *restrict text, const uint32_t *restrict start,
           uint64_t *restrict hashed, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint64_t h = 0xCBF29CE484222325u;
        for (uint32_t k = start[i]; k < start[i + 1]; k++)
            h = (h ^ text[k]) * 0x100000001B3u;
        hashed[i] = h;
    }
}

void murmur3(int64_t seed, const uint32_t *restrict words, uint32_t *restrict hashed, int64_t n,
             int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t h = (uint32_t)seed;
        for (int64_t k = 0; k < length; k++) {
            h ^= rotl(words[i * length + k] * 0xCC9E2D51u, 15) * 0x1B873593u;
            h = rotl(h, 13) * 5 + 0xE6546B64u;
        }
        h ^= (uint32_t)(4 * length);
        h = (h ^ h >> 16) * 0x85EBCA6Bu;
        h = (h ^ h >> 13) * 0xC2B2AE35u;
        hashed[i] = h ^ h >> 16;
    }
}

void crc32(const uint32_t *restrict table, const uint8_t *restrict text,
           const uint32_t *restrict start, uint32_t *restrict hashed, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t crc = 0xFFFFFFFFu;
        for (uint32_t k = start[i]; k < start[i + 1]; k++)
            crc = table[(crc ^ text[k]) & 255] ^ crc >> 8;
        hashed[i] = ~crc;
    }
}

void adler32(const uint8_t *restrict text, uint32_t *restrict hashed, int64_t n, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t a = 1, b = 0;
        for (int64_t k = 0; k < length; k++) {
            a = (a + text[i * length + k]) % 65521;
            b = (b + a) % 65521;
        }
        hashed[i] = b << 16 | a;
    }
}

void sha1(const uint32_t *restrict block, uint32_t *restrict hashed, int64_t n, int64_t length) {
    (void)length;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t w[80];
        for (int t = 0; t < 16; t++)
            w[t] = block[16 * i + t];
        for (int t = 16; t < 80; t++)
            w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        uint32_t a = 0x67452301u, b = 0xEFCDAB89u, c = 0x98BADCFEu, d = 0x10325476u,
                 e = 0xC3D2E1F0u;
        for (int t = 0; t < 80; t++) {
            uint32_t f, k;
            if (t < 20) {
                f = (b & c) | (~b & d);
                k = 0x5A827999u;
            } else if (t < 40) {
                f = b ^ c ^ d;
                k = 0x6ED9EBA1u;
            } else if (t < 60) {
                f = (b & c) | (b & d) | (c & d);
                k = 0x8F1BBCDCu;
            } else {
                f = b ^ c ^ d;
                k = 0xCA62C1D6u;
            }
            uint32_t following = rotl(a, 5) + f + e + k + w[t];
            e = d;
            d = c;
            c = rotl(b, 30);
            b = a;
            a = following;
        }
        hashed[5 * i] = a + 0x67452301u;
        hashed[5 * i + 1] = b + 0xEFCDAB89u;
        hashed[5 * i + 2] = c + 0x98BADCFEu;
        hashed[5 * i + 3] = d + 0x10325476u;
        hashed[5 * i + 4] = e + 0xC3D2E1F0u;
    }
}

static void quarter(uint32_t *x, int a, int b, int c, int d) {
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha20(const uint32_t *restrict state, const uint32_t *restrict text,
              uint32_t *restrict out, int64_t n, int64_t words) {
    (void)words;
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t x[16];
        for (int k = 0; k < 16; k++)
            x[k] = state[k];
        x[12] += (uint32_t)i;
        for (int t = 0; t < 10; t++) {
            quarter(x, 0, 4, 8, 12);
            quarter(x, 1, 5, 9, 13);
            quarter(x, 2, 6, 10, 14);
            quarter(x, 3, 7, 11, 15);
            quarter(x, 0, 5, 10, 15);
            quarter(x, 1, 6, 11, 12);
            quarter(x, 2, 7, 8, 13);
            quarter(x, 3, 4, 9, 14);
        }
        for (int k = 0; k < 16; k++) {
            uint32_t start = k == 12 ? state[k] + (uint32_t)i : state[k];
            out[16 * i + k] = text[16 * i + k] ^ (x[k] + start);
        }
    }
}

static void sip_round(uint64_t *v0, uint64_t *v1, uint64_t *v2, uint64_t *v3) {
    *v0 += *v1;
    *v2 += *v3;
    *v1 = rotl64(*v1, 13) ^ *v0;
    *v3 = rotl64(*v3, 16) ^ *v2;
    *v0 = rotl64(*v0, 32);
    *v2 += *v1;
    *v0 += *v3;
    *v1 = rotl64(*v1, 17) ^ *v2;
    *v3 = rotl64(*v3, 21) ^ *v0;
    *v2 = rotl64(*v2, 32);
}

void siphash(int64_t k0, int64_t k1, const uint64_t *restrict words, uint64_t *restrict hashed,
             int64_t n, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint64_t v0 = (uint64_t)k0 ^ 0x736F6D6570736575u, v1 = (uint64_t)k1 ^ 0x646F72616E646F6Du;
        uint64_t v2 = (uint64_t)k0 ^ 0x6C7967656E657261u, v3 = (uint64_t)k1 ^ 0x7465646279746573u;
        for (int64_t k = 0; k < length + 1; k++) {
            uint64_t m = (uint64_t)(8 * length) << 56;
            if (k < length)
                m = words[i * length + k];
            v3 ^= m;
            sip_round(&v0, &v1, &v2, &v3);
            sip_round(&v0, &v1, &v2, &v3);
            v0 ^= m;
        }
        v2 ^= 255;
        for (int t = 0; t < 4; t++)
            sip_round(&v0, &v1, &v2, &v3);
        hashed[i] = v0 ^ v1 ^ v2 ^ v3;
    }
}

static uint64_t word64(const uint8_t *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

void wyhash(const uint8_t *restrict text, const uint32_t *restrict start,
            uint64_t *restrict hashed, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t p = start[i], end = start[i + 1];
        uint64_t h = (uint64_t)(end - p) * 0xA0761D6478BD642Fu;
        for (; end - p >= 8; p += 8) {
            h = (h ^ word64(text + p) ^ 0xE7037ED1A0B428DBu) * 0x8EBC6AF09C88C6E3u;
            h ^= h >> 32;
        }
        if (p < end) {
            uint64_t m = word64(text + p) & (((uint64_t)1 << 8 * (end - p)) - 1);
            h = (h ^ m) * 0x589965CC75374CC3u;
        }
        hashed[i] = h ^ h >> 29;
    }
}

void four_grams(const uint32_t *restrict bitmap, const uint8_t *restrict text,
                uint8_t *restrict hits, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint32_t w;
        memcpy(&w, text + i, 4);
        uint32_t h = (w * 0x9E3779B1u) >> 17;
        hits[i] = bitmap[h >> 5] >> (h & 31) & 1;
    }
}
