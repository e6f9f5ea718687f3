// One level: every node of the frontier claims its unseen neighbours for the next one.
program workgroup(256, 1, 1)

buffer starts: read_only u32[] @0
buffer targets: read_only u32[] @1
buffer levels: read_write u32[] @2
buffer frontier: read_only u32[] @3
buffer next: read_write u32[] @4
buffer count: read_write u32[1] @5
buffer now: uniform u32[2] @6

region "bfs" {
    if gid.x < now[0] {
        let node = frontier[gid.x]
        for edge in starts[node]..starts[node + 1] {
            let near = targets[edge]
            let old = atomic_compare_exchange(levels[near], now[1], expected=0xffffffff)
            if old == 0xffffffff {
                let place = atomic_add(count[0], 1)
                next[place] = near
            }
        }
    }
}
