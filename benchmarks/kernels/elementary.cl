__kernel void exp_f32(__global const float *x, __global float *out) {
    size_t i = get_global_id(0);
    out[i] = exp(x[i]);
}

__kernel void sin_f32(__global const float *x, __global float *out) {
    size_t i = get_global_id(0);
    out[i] = sin(x[i]);
}
