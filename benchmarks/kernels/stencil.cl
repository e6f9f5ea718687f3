__kernel void stencil(__global const float *in, __global float *out, uint n) {
    uint j = get_global_id(0), i = get_global_id(1);
    if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        out[i * n + j] = 0.2f * (in[i * n + j] + in[(i - 1) * n + j] + in[(i + 1) * n + j] +
                                 in[i * n + j - 1] + in[i * n + j + 1]);
}
