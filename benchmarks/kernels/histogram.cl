/* A private histogram per work-group in local memory, merged with atomics. */
__kernel void histogram(__global const uchar *x, __global uint *bins, uint n) {
    __local uint mine[256];
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        mine[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[x[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        atomic_add(&bins[b], mine[b]);
}

__kernel void clear(__global uint *bins) { bins[get_global_id(0)] = 0; }
