// The prefix sums of each block, one invocation per block.
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer totals: read_only u32[] @1
buffer scan: read_write u32[] @2
buffer block: uniform u32[1] @3

region "prefix_sum_scan" {
    let b = gid.x
    if b < len(totals) {
        let s = totals[b]
        for i in b * block[0]..min((b + 1) * block[0], len(x)) {
            s = s + x[i]
            scan[i] = s
        }
    }
}
