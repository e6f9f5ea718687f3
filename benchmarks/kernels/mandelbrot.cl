__kernel void mandelbrot(__global uint *out, uint n, uint limit) {
    uint column = get_global_id(0), row = get_global_id(1);
    float cx = -2.0f + 3.0f * (float)column / (float)n;
    float cy = -1.5f + 3.0f * (float)row / (float)n;
    float x = 0, y = 0;
    uint k = 0;
    while (k < limit && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    out[row * n + column] = k;
}
