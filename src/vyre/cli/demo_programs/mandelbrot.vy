// How many rounds each point of the plane takes to escape.
program workgroup(16, 16, 1)

buffer size: uniform u32[1] @0
buffer counts: read_write u32[] @1 output live_out

region "mandelbrot" {
    let column = gid.x
    let row = gid.y
    let n = size[0]
    if (column < n) & (row < n) {
        let cx = -2.0f32 + 3.0f32 * f32(column) / f32(n)
        let cy = -1.5f32 + 3.0f32 * f32(row) / f32(n)
        let x = 0.0f32
        let y = 0.0f32
        let k = 0
        while (k < 64) & (x * x + y * y <= 4.0f32) {
            let t = x * x - y * y + cx
            y = 2.0f32 * x * y + cy
            x = t
            k = k + 1
        }
        counts[row * n + column] = k
    }
}
