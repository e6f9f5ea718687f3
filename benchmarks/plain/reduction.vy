// The sum of an array as one writes it first: a few elements each, then an atomic.
program workgroup(256, 1, 1)

buffer values: read_only u32[] @0
buffer total: read_write u32[1] @1

region "reduction" {
    let sum = 0u32
    for k in 0u32..4u32 {
        let at = wid.x * 1024u32 + k * 256u32 + lid.x
        if at < len(values) {
            sum = sum + values[at]
        }
    }
    eval atomic_add(total[0], sum)
}
