#include <stdint.h>

void dfa(const uint8_t *text, const uint8_t *table, uint32_t *found, int64_t accepting,
         int64_t chunk, int64_t chunks) {
#pragma omp parallel for
    for (int64_t c = 0; c < chunks; c++) {
        const uint8_t *bytes = text + c * chunk;
        uint32_t state = 0, count = 0;
        for (int64_t i = 0; i < chunk; i++) {
            state = table[state * 256 + bytes[i]];
            count += state >= (uint32_t)accepting;
        }
        found[c] = count;
    }
}
