// A private histogram per workgroup, merged with atomics.
program workgroup(256, 1, 1)

buffer x: read_only u8[] @0
buffer bins: read_write u32[256] @1 output live_out
buffer mine: workgroup u32[256]

region "histogram" {
    let lane = lid.x
    let share = (len(x) + num_workgroups.x * 256 - 1) / (num_workgroups.x * 256)
    for k in 0..share {
        let i = (wid.x * share + k) * 256 + lane
        if i < len(x) {
            eval atomic_add(mine[u32(x[i])], 1)
        }
    }
    barrier acq_rel
    eval atomic_add(bins[lane], mine[lane])
}
