// One generation of the game of life on a torus.
program workgroup(64, 4, 1)

buffer size: uniform u32[1] @0
buffer before: read_only u8[] @1
buffer after: read_write u8[] @2 output live_out

region "life" {
    let n = size[0]
    let x = gid.x
    let y = gid.y
    if (x < n) & (y < n) {
        let left = (x + n - 1) % n
        let right = (x + 1) % n
        let above = (y + n - 1) % n * n
        let below = (y + 1) % n * n
        let here = y * n
        let near = before[above + left] + before[above + x] + before[above + right] + before[here + left] + before[here + right] + before[below + left] + before[below + x] + before[below + right]
        let lives = (near == 3u8) | ((near == 2u8) & (before[here + x] == 1u8))
        after[here + x] = u8(lives)
    }
}
