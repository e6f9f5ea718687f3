// A histogram in workgroup memory, with a barrier wherever one might be needed.
program workgroup(256, 1, 1)

buffer keys: read_only u8[] @0
buffer counts: read_write u32[256] @1
buffer own: workgroup u32[256]

region "histogram" {
    own[lid.x] = 0u32
    barrier seq_cst
    barrier seq_cst
    if gid.x < len(keys) {
        let key = min(u32(keys[gid.x]), 255u32)
        if key < 256u32 {
            eval atomic_add(own[key], 1u32)
        }
    }
    barrier seq_cst
    eval atomic_add(counts[lid.x], own[lid.x])
    barrier seq_cst
}
