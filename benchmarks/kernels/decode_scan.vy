// One invocation per chunk: decode into memory of its own, then run the automaton over it.
program workgroup(64, 1, 1)

buffer text: read_only u8[] @0
buffer six_bits: read_only u8[256] @1
buffer table: read_only u8[] @2
buffer found: read_write u32[] @3
buffer accepting: uniform u32[1] @4
buffer bytes: local u8[3072]

region "decode_scan" {
    let chunk = gid.x
    if chunk < len(found) {
        for g in 0..1024 {
            let at = chunk * 4096 + 4 * g
            let a = six_bits[u32(text[at])]
            let b = six_bits[u32(text[at + 1])]
            let c = six_bits[u32(text[at + 2])]
            let d = six_bits[u32(text[at + 3])]
            bytes[3 * g] = a << 2u8 | b >> 4u8
            bytes[3 * g + 1] = b << 4u8 | c >> 2u8
            bytes[3 * g + 2] = c << 6u8 | d
        }
        let state = 0
        let count = 0
        for i in 0..3072 {
            state = u32(table[state * 256 + u32(bytes[i])])
            count = count + u32(state >= accepting[0])
        }
        found[chunk] = count
    }
}
