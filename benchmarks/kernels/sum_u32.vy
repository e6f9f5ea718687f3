// A pass over its share for every workgroup, a tree in its memory, and one atomic for its sum.
program workgroup(256, 1, 1)

buffer x: read_only u32[] @0
buffer sum: read_write u32[1] @1
buffer tree: workgroup u32[256]

region "sum" {
    let lane = lid.x
    let rounds = (len(x) + num_workgroups.x * 256 - 1) / (num_workgroups.x * 256)
    let s = 0
    for k in 0..rounds {
        let i = (wid.x * rounds + k) * 256 + lane
        if i < len(x) {
            s = s + x[i]
        }
    }
    tree[lane] = s
    barrier acq_rel
    for step in 0..8 {
        let reach = 128 >> step
        if lane < reach {
            tree[lane] = tree[lane] + tree[lane + reach]
        }
        barrier acq_rel
    }
    if lane == 0 {
        eval atomic_add(sum[0], tree[0])
    }
}
