// Where each block's keys of each digit go: one workgroup, one invocation per digit.
program workgroup(256, 1, 1)

buffer counts: read_write u32[] @0
buffer totals: workgroup u32[256]

region "sort_offsets" {
    let digit = lid.x
    let blocks = len(counts) / 256
    let mine = 0
    for b in 0..blocks {
        mine = mine + counts[b * 256 + digit]
    }
    totals[digit] = mine
    barrier acq_rel
    if digit == 0 {
        let before = 0
        for d in 0..256 {
            let total = totals[d]
            totals[d] = before
            before = before + total
        }
    }
    barrier acq_rel
    let place = totals[digit]
    for b in 0..blocks {
        let count = counts[b * 256 + digit]
        counts[b * 256 + digit] = place
        place = place + count
    }
}
