// One level: every node of the level claims its unseen neighbours for the next one.
program workgroup(256, 1, 1)

buffer starts: read_only u32[] @0
buffer targets: read_only u32[] @1
buffer levels: read_write u32[] @2
buffer more: read_write u32[1] @3
buffer level: uniform u32[1] @4

region "bfs" {
    let node = gid.x
    if node < len(levels) {
        // Other nodes are being claimed meanwhile: a plain load would be a data race.
        if atomic_or(levels[node], 0) == level[0] {
            for edge in starts[node]..starts[node + 1] {
                let near = targets[edge]
                if atomic_or(levels[near], 0) == 0xffffffff {
                    eval atomic_exchange(levels[near], level[0] + 1)
                    eval atomic_or(more[0], 1)
                }
            }
        }
    }
}
