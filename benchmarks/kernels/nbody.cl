__kernel void nbody(__global const float *px, __global const float *py, __global const float *pz,
                    __global const float *mass, __global float *ax, __global float *ay,
                    __global float *az, float softening, uint n) {
    uint i = get_global_id(0);
    float x = px[i], y = py[i], z = pz[i], fx = 0, fy = 0, fz = 0;
    for (uint j = 0; j < n; j++) {
        float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
        float r = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + softening);
        float w = mass[j] * r * r * r;
        fx += w * dx;
        fy += w * dy;
        fz += w * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
}
