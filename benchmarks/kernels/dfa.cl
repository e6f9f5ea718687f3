__kernel void dfa(__global const uchar *text, __global const uchar *table, __global uint *found,
                  uint accepting, uint chunk) {
    uint c = get_global_id(0), state = 0, count = 0;
    for (uint i = 0; i < chunk; i++) {
        state = table[state * 256 + text[c * chunk + i]];
        count += state >= accepting;
    }
    found[c] = count;
}
