#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

static const uint8_t HEX[] = "0123456789abcdef";
static const uint8_t BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hex_encode(const uint8_t *restrict data, uint8_t *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        out[2 * i] = HEX[data[i] >> 4];
        out[2 * i + 1] = HEX[data[i] & 15];
    }
}

static uint8_t nibble(uint8_t c) {
    if (c >= '0' && c <= '9')
        return (uint8_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint8_t)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F')
        return (uint8_t)(c - 'A' + 10);
    return 255;
}

void hex_decode(const uint8_t *restrict text, uint8_t *restrict out, uint32_t *restrict errors,
                int64_t n) {
    uint32_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t i = 0; i < n; i++) {
        uint8_t high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
        if (high == 255 || low == 255)
            wrong++;
        out[i] = (uint8_t)(high << 4 | (low & 15));
    }
    errors[0] += wrong;
}

void base64_encode(const uint8_t *restrict data, uint8_t *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n / 3; i++) {
        uint32_t a = data[3 * i], b = data[3 * i + 1], c = data[3 * i + 2];
        uint32_t word = a << 16 | b << 8 | c;
        for (int64_t k = 0; k < 4; k++)
            out[4 * i + k] = BASE64[(word >> (18 - 6 * k)) & 63];
    }
}

void swap_case(const uint8_t *restrict data, uint8_t *restrict out, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint8_t c = data[i];
        if (c >= 'a' && c <= 'z')
            c -= 32;
        else if (c >= 'A' && c <= 'Z')
            c += 32;
        out[i] = c;
    }
}

void xor_key(const uint8_t *restrict data, const uint8_t *restrict key, uint8_t *restrict out,
             int64_t n, int64_t length) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        out[i] = data[i] ^ key[(uint32_t)i % (uint32_t)length];
}

void line_ends(const uint8_t *restrict data, uint32_t *restrict counts, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < (n + 63) / 64; i++) {
        uint32_t found = 0;
        int64_t end = (i + 1) * 64 < n ? (i + 1) * 64 : n;
        for (int64_t k = i * 64; k < end; k++) {
            if (data[k] == '\n') {
                if (k == 0 || data[k - 1] != '\r')
                    found++;
            } else if (data[k] == '\r') {
                found++;
            }
        }
        counts[i] = found;
    }
}

void utf8_lengths(const uint8_t *restrict data, uint8_t *restrict lengths, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        uint8_t c = data[i], length = 255;
        if (c < 0x80)
            length = 1;
        else if (c < 0xC0)
            length = 0;
        else if (c >= 0xC2 && c < 0xE0)
            length = 2;
        else if (c >= 0xE0 && c < 0xF0)
            length = 3;
        else if (c >= 0xF0 && c < 0xF5)
            length = 4;
        if (length > 1 && length < 255) {
            for (int64_t k = 1; k < length; k++)
                if (i + k >= n || (data[i + k] & 0xC0) != 0x80) {
                    length = 255;
                    break;
                }
        }
        lengths[i] = length;
    }
}

static uint32_t class_mask(const uint8_t *text) {
#ifdef __AVX2__
    __m256i c = _mm256_loadu_si256((const __m256i *)text);
    __m256i digit = _mm256_sub_epi8(c, _mm256_set1_epi8(48));
    __m256i within = _mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit);
    __m256i end = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(10));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(within, end));
#else
    uint32_t mask = 0;
    for (int k = 0; k < 32; k++)
        mask |= (uint32_t)(text[k] == 10 || (text[k] >= 48 && text[k] <= 57)) << k;
    return mask;
#endif
}

void class_ballots(const uint8_t *restrict text, uint32_t *restrict masks, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        masks[i] = class_mask(text + 32 * i);
}

void class_bits(const uint8_t *restrict text, uint32_t *restrict masks, int64_t n) {
    class_ballots(text, masks, n);
}
