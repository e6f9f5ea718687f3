__kernel void one_element(__global const float *x, __global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] + 1.0f;
}
