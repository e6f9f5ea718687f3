// One generation of the game of life; the board has a border of dead cells around it.
program workgroup(64, 4, 1)

buffer size: uniform u32[1] @0
buffer before: read_only u8[] @1
buffer after: read_write u8[] @2 output live_out

region "life" {
    let n = size[0]
    let x = gid.x
    let y = gid.y
    if (x < n) & (y < n) {
        let above = y * (n + 2) + x
        let here = above + n + 2
        let below = here + n + 2
        let near = before[above] + before[above + 1] + before[above + 2] + before[here] + before[here + 2] + before[below] + before[below + 1] + before[below + 2]
        let lives = (near == 3u8) | ((near == 2u8) & (before[here + 1] == 1u8))
        after[y * n + x] = u8(lives)
    }
}
