// One invocation per chunk; states from `accepting` on accept.
program workgroup(64, 1, 1)

buffer text: read_only u8[] @0
buffer table: read_only u8[] @1
buffer found: read_write u32[] @2
buffer accepting: uniform u32[1] @3

region "dfa" {
    let chunk = gid.x
    if chunk < len(found) {
        let length = len(text) / len(found)
        let state = 0
        let count = 0
        for i in 0..length {
            state = u32(table[state * 256 + u32(text[chunk * length + i])])
            count = count + u32(state >= accepting[0])
        }
        found[chunk] = count
    }
}
