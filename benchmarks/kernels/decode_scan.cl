#define DECODED 3072

/* A work-item per chunk; the decoded bytes stay with it. */
__kernel void decode_scan(__global const uchar *text, __global const uchar *six_bits,
                          __global const uchar *table, __global uint *found, uint accepting,
                          __global uchar *scratch) {
    uint chunk = get_global_id(0), state = 0, count = 0;
    __global const uchar *in = text + chunk * (DECODED / 3 * 4);
    __global uchar *bytes = scratch + chunk * DECODED;
    for (uint g = 0; g < DECODED / 3; g++) {
        uint a = six_bits[in[4 * g]], b = six_bits[in[4 * g + 1]];
        uint c = six_bits[in[4 * g + 2]], d = six_bits[in[4 * g + 3]];
        bytes[3 * g] = (uchar)(a << 2 | b >> 4);
        bytes[3 * g + 1] = (uchar)(b << 4 | c >> 2);
        bytes[3 * g + 2] = (uchar)(c << 6 | d);
    }
    for (uint i = 0; i < DECODED; i++) {
        state = table[state * 256 + bytes[i]];
        count += state >= accepting;
    }
    found[chunk] = count;
}
