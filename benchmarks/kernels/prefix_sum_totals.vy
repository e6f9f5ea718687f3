// The sum of each block, one invocation per block.
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer totals: read_write u32[] @1
buffer block: uniform u32[1] @2

region "prefix_sum_totals" {
    let b = gid.x
    if b < len(totals) {
        let s = 0
        for i in b * block[0]..min((b + 1) * block[0], len(x)) {
            s = s + x[i]
        }
        totals[b] = s
    }
}
