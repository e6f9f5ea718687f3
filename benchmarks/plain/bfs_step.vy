// One step of a breadth-first search with the switches that a template leaves behind.
program workgroup(64, 1, 1)

buffer offsets: read_only u32[] @0
buffer targets: read_only u32[] @1
buffer level: read_write u32[] @2
buffer reached: read_write u32[1] @3
buffer now: uniform u32[1] @4
buffer debug: scratch u32[64]

region "bfs_step" {
    let node = gid.x
    let trace = false
    if node < len(level) {
        if trace {
            debug[0] = node
        }
        let next = now[0] + 1u32
        if level[node] == now[0] {
            for e in offsets[node]..offsets[node + 1u32] {
                let other = targets[e]
                if other < len(level) {
                    if level[other] == 4294967295u32 {
                        level[other] = now[0]
                        level[other] = next
                        if level[other] == next {
                            eval atomic_add(reached[0], 1u32)
                        }
                    }
                }
            }
        }
    }
}
