#include <stdint.h>

/* The six bits of a character without a branch, in eight bits: written so, gcc vectorises the loop. */
static inline uint8_t six_bits(uint8_t c) {
    return (uint8_t)(c + 4 - 69 * (c >= 'A') - 6 * (c >= 'a') + 15 * (c == '+') + 12 * (c == '/'));
}

void by_arithmetic(const uint8_t *restrict in, uint8_t *restrict out, int64_t groups) {
#pragma omp parallel for
    for (int64_t g = 0; g < groups; g++) {
        uint8_t a = six_bits(in[4 * g]), b = six_bits(in[4 * g + 1]);
        uint8_t c = six_bits(in[4 * g + 2]), d = six_bits(in[4 * g + 3]);
        out[3 * g] = (uint8_t)(a << 2 | b >> 4);
        out[3 * g + 1] = (uint8_t)(b << 4 | c >> 2);
        out[3 * g + 2] = (uint8_t)(c << 6 | d);
    }
}

void by_table(const uint8_t *restrict in, const uint8_t *restrict table, uint8_t *restrict out,
              int64_t groups) {
#pragma omp parallel for
    for (int64_t g = 0; g < groups; g++) {
        uint32_t a = table[in[4 * g]], b = table[in[4 * g + 1]];
        uint32_t c = table[in[4 * g + 2]], d = table[in[4 * g + 3]];
        out[3 * g] = (uint8_t)(a << 2 | b >> 4);
        out[3 * g + 1] = (uint8_t)(b << 4 | c >> 2);
        out[3 * g + 2] = (uint8_t)(c << 6 | d);
    }
}
