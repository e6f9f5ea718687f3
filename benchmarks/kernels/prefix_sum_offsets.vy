// What comes before each block: one invocation for all.
program workgroup(1, 1, 1)

buffer totals: read_write u32[] @0

region "prefix_sum_offsets" {
    let s = 0
    for b in 0..len(totals) {
        let total = totals[b]
        totals[b] = s
        s = s + total
    }
}
