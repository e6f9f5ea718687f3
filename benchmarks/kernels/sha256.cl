#define ROTATE(x, n) rotate((uint)(x), (uint)(32 - (n)))

void compress(uint *h, uint *w, __global const uint *constants) {
    for (int t = 16; t < 64; t++) {
        uint x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (ROTATE(x, 7) ^ ROTATE(x, 18) ^ x >> 3) + w[t - 7] +
               (ROTATE(y, 17) ^ ROTATE(y, 19) ^ y >> 10);
    }
    uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
    for (int t = 0; t < 64; t++) {
        uint s = k + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & f) ^ (~e & g)) +
                 constants[t] + w[t];
        uint m = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        k = g, g = f, f = e, e = d + s, d = c, c = b, b = a, a = s + m;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += k;
}

__kernel void sha256(__global const uint *messages, __global const uint *constants,
                     __global const uint *initial, __global uint *digests) {
    uint i = get_global_id(0), h[8], w[64];
    for (int t = 0; t < 8; t++)
        h[t] = initial[t];
    for (int t = 0; t < 16; t++)
        w[t] = messages[16 * i + t];
    compress(h, w, constants);
    for (int t = 0; t < 16; t++)
        w[t] = t == 0 ? 0x80000000 : t == 15 ? 512 : 0;
    compress(h, w, constants);
    for (int t = 0; t < 8; t++)
        digests[8 * i + t] = h[t];
}
