program workgroup(256, 1, 1) op "example.histogram"

buffer data: read_only u8[] @0
buffer bins: read_write u32[256] @1 output live_out
buffer tile: workgroup u32[256]

region "vyre.program.root" {
    let i = gid.x
    if i < len(data) {
        eval atomic_add(tile[u32(data[i])], 1u32)
    }
    barrier seq_cst
    eval atomic_add(bins[lid.x], tile[lid.x])
}
