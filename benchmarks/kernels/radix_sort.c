#include <stdint.h>
#include <string.h>

/* Least significant digit first, 8 bits a pass. Blocks are counted and scattered independently;
   the counts, scanned digit by digit and block by block, say where each block's keys go. */
void radix_sort(uint32_t *keys, uint32_t *spare, uint32_t *counts, int64_t n, int64_t block) {
    int64_t blocks = (n + block - 1) / block;
    for (int shift = 0; shift < 32; shift += 8) {
#pragma omp parallel for
        for (int64_t b = 0; b < blocks; b++) {
            uint32_t mine[256] = {0};
            int64_t to = (b + 1) * block < n ? (b + 1) * block : n;
            for (int64_t i = b * block; i < to; i++)
                mine[keys[i] >> shift & 255]++;
            memcpy(counts + b * 256, mine, sizeof mine);
        }
        uint32_t total = 0;
        for (int digit = 0; digit < 256; digit++)
            for (int64_t b = 0; b < blocks; b++) {
                uint32_t count = counts[b * 256 + digit];
                counts[b * 256 + digit] = total;
                total += count;
            }
#pragma omp parallel for
        for (int64_t b = 0; b < blocks; b++) {
            uint32_t next[256];
            memcpy(next, counts + b * 256, sizeof next);
            int64_t to = (b + 1) * block < n ? (b + 1) * block : n;
            for (int64_t i = b * block; i < to; i++)
                spare[next[keys[i] >> shift & 255]++] = keys[i];
        }
        uint32_t *t = keys;
        keys = spare;
        spare = t;
    }
}
