__kernel void naive(__global const float *a, __global const float *b, __global float *c, uint n) {
    uint j = get_global_id(0), i = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

#define TILE 16

__kernel void tiled(__global const float *a, __global const float *b, __global float *c, uint n) {
    __local float left[TILE][TILE], right[TILE][TILE];
    uint j = get_global_id(0), i = get_global_id(1), x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (uint t = 0; t < n; t += TILE) {
        left[y][x] = a[i * n + t + x];
        right[y][x] = b[(t + y) * n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[i * n + j] = sum;
}
