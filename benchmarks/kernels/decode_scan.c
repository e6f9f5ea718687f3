#include <stdint.h>

enum { DECODED = 3072 };

void decode_scan(const uint8_t *text, const uint8_t *six_bits, const uint8_t *table,
                 uint32_t *found, int64_t accepting, int64_t chunks) {
#pragma omp parallel for
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        const uint8_t *in = text + chunk * (DECODED / 3 * 4);
        uint8_t bytes[DECODED];
        for (int64_t g = 0; g < DECODED / 3; g++) {
            uint32_t a = six_bits[in[4 * g]], b = six_bits[in[4 * g + 1]];
            uint32_t c = six_bits[in[4 * g + 2]], d = six_bits[in[4 * g + 3]];
            bytes[3 * g] = (uint8_t)(a << 2 | b >> 4);
            bytes[3 * g + 1] = (uint8_t)(b << 4 | c >> 2);
            bytes[3 * g + 2] = (uint8_t)(c << 6 | d);
        }
        uint32_t state = 0, count = 0;
        for (int64_t i = 0; i < DECODED; i++) {
            state = table[state * 256 + bytes[i]];
            count += state >= (uint32_t)accepting;
        }
        found[chunk] = count;
    }
}
