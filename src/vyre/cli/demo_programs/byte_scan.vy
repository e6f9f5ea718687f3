// How often four bytes stand in a text, and where they stand first.
program workgroup(256, 1, 1)

buffer text: read_only u8[] @0
buffer needle: uniform u8[4] @1
buffer found: read_write u32[2] @2

region "byte_scan" {
    let i = gid.x
    if i + 3 < len(text) {
        if (text[i] == needle[0]) & (text[i + 1] == needle[1]) & (text[i + 2] == needle[2]) & (text[i + 3] == needle[3]) {
            eval atomic_add(found[0], 1)
            eval atomic_min(found[1], i)
        }
    }
}
