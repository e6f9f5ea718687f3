/* One work-item per block, three launches: totals of the blocks, their offsets, the scan. */
__kernel void totals(__global const uint *x, __global uint *total, uint block, uint n) {
    uint b = get_global_id(0), s = 0;
    for (uint i = b * block; i < min((b + 1) * block, n); i++)
        s += x[i];
    total[b] = s;
}

__kernel void offsets(__global uint *total, uint blocks) {
    uint s = 0;
    for (uint b = 0; b < blocks; b++) {
        uint t = total[b];
        total[b] = s;
        s += t;
    }
}

__kernel void scan(__global const uint *x, __global const uint *total, __global uint *out,
                   uint block, uint n) {
    uint b = get_global_id(0), s = total[b];
    for (uint i = b * block; i < min((b + 1) * block, n); i++)
        out[i] = s += x[i];
}
