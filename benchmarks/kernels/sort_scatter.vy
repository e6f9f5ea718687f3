// Puts each block's keys where their digits belong, one invocation per block.
program workgroup(1, 1, 1)

buffer keys: read_only u32[] @0
buffer spare: read_write u32[] @1
buffer counts: read_write u32[] @2
buffer now: uniform u32[2] @3

region "sort_scatter" {
    let b = gid.x
    let block = now[1]
    for i in b * block..min((b + 1) * block, len(keys)) {
        let slot = b * 256 + (keys[i] >> now[0] & 255)
        let place = counts[slot]
        spare[place] = keys[i]
        counts[slot] = place + 1
    }
}
