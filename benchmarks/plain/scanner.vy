// Bytes are decoded through a table into scratch memory, then a state machine reads them.
program workgroup(64, 1, 1)

buffer text: read_only u32[4096] @0
buffer classes: read_only u32[256] @1
buffer matches: read_write u32[4096] @2
buffer decoded: scratch u32[4096]

region "decode" {
    decoded[gid.x] = classes[text[gid.x] & 255u32]
}
barrier seq_cst
region "scan" {
    let state = 0u32
    for i in 0u32..16u32 {
        state = (state * 4u32 + decoded[wid.x * 64u32 + (lid.x + i) % 64u32]) % 256u32
        state = classes[state]
    }
    matches[gid.x] = state
}
