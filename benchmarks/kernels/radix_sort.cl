/* One work-item per block; see radix_sort.c for the three steps of a pass. */
__kernel void count(__global const uint *keys, __global uint *counts, uint shift, uint n,
                    uint block) {
    uint b = get_global_id(0);
    __global uint *mine = counts + b * 256;
    for (uint d = 0; d < 256; d++)
        mine[d] = 0;
    for (uint i = b * block; i < min((b + 1) * block, n); i++)
        mine[keys[i] >> shift & 255]++;
}

__kernel void scan(__global uint *counts, uint blocks) {
    uint total = 0;
    for (uint d = 0; d < 256; d++)
        for (uint b = 0; b < blocks; b++) {
            uint count = counts[b * 256 + d];
            counts[b * 256 + d] = total;
            total += count;
        }
}

__kernel void scatter(__global const uint *keys, __global uint *spare, __global uint *counts,
                      uint shift, uint n, uint block) {
    uint b = get_global_id(0);
    __global uint *next = counts + b * 256;
    for (uint i = b * block; i < min((b + 1) * block, n); i++)
        spare[next[keys[i] >> shift & 255]++] = keys[i];
}
