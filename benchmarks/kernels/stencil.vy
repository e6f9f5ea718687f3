// The mean of each inner point and its four neighbours.
program workgroup(16, 16, 1)

buffer before: read_only f32[] @0
buffer after: read_write f32[] @1
buffer size: uniform u32[1] @2

region "stencil" {
    let j = gid.x
    let i = gid.y
    let n = size[0]
    if (i > 0) & (j > 0) & (i + 1 < n) & (j + 1 < n) {
        let at = i * n + j
        let across = before[at] + before[at - n] + before[at + n]
        after[at] = 0.2f32 * (across + before[at - 1] + before[at + 1])
    }
}
