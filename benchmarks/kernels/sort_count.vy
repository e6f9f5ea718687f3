// How often each digit occurs in each block, one invocation per block.
program workgroup(1, 1, 1)

buffer keys: read_only u32[] @0
buffer counts: read_write u32[] @1
buffer now: uniform u32[2] @2

region "sort_count" {
    let b = gid.x
    let block = now[1]
    for digit in 0..256 {
        counts[b * 256 + digit] = 0
    }
    for i in b * block..min((b + 1) * block, len(keys)) {
        let slot = b * 256 + (keys[i] >> now[0] & 255)
        counts[slot] = counts[slot] + 1
    }
}
