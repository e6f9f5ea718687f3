// Where each block's keys of each digit go: one invocation for all.
program workgroup(1, 1, 1)

buffer counts: read_write u32[] @0

region "sort_offsets" {
    let total = 0
    for digit in 0..256 {
        for b in 0..len(counts) / 256 {
            let count = counts[b * 256 + digit]
            counts[b * 256 + digit] = total
            total = total + count
        }
    }
}
