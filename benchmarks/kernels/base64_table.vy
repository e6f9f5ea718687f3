// One invocation per four characters; a character's six bits from a table.
program workgroup(256, 1, 1)

buffer text: read_only u8[] @0
buffer table: read_only u8[256] @1
buffer decoded: read_write u8[] @2

region "base64_table" {
    let g = gid.x
    if g < len(decoded) / 3 {
        let a = table[u32(text[4 * g])]
        let b = table[u32(text[4 * g + 1])]
        let c = table[u32(text[4 * g + 2])]
        let d = table[u32(text[4 * g + 3])]
        decoded[3 * g] = a << 2u8 | b >> 4u8
        decoded[3 * g + 1] = b << 4u8 | c >> 2u8
        decoded[3 * g + 2] = c << 6u8 | d
    }
}
