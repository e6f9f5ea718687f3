uint six_bits(uint c) {
    uint offset = c >= 'a' ? (uint)-71 : c >= 'A' ? (uint)-65 : c >= '0' ? 4 : c == '+' ? 19 : 16;
    return c + offset;
}

__kernel void by_arithmetic(__global const uchar *in, __global uchar *out) {
    size_t g = get_global_id(0);
    uint a = six_bits(in[4 * g]), b = six_bits(in[4 * g + 1]);
    uint c = six_bits(in[4 * g + 2]), d = six_bits(in[4 * g + 3]);
    out[3 * g] = (uchar)(a << 2 | b >> 4);
    out[3 * g + 1] = (uchar)(b << 4 | c >> 2);
    out[3 * g + 2] = (uchar)(c << 6 | d);
}

__kernel void by_table(__global const uchar *in, __global uchar *out,
                       __global const uchar *table) {
    size_t g = get_global_id(0);
    uint a = table[in[4 * g]], b = table[in[4 * g + 1]];
    uint c = table[in[4 * g + 2]], d = table[in[4 * g + 3]];
    out[3 * g] = (uchar)(a << 2 | b >> 4);
    out[3 * g + 1] = (uchar)(b << 4 | c >> 2);
    out[3 * g + 2] = (uchar)(c << 6 | d);
}
