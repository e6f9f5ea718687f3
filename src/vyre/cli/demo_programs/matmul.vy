// Tiles of 16 × 16 of both matrices pass through workgroup memory.
program workgroup(16, 16, 1)

buffer size: uniform u32[1] @0
buffer a: read_only f32[] @1
buffer b: read_only f32[] @2
buffer c: read_write f32[] @3 output live_out
buffer left: workgroup f32[256]
buffer right: workgroup f32[256]

region "matmul" {
    let x = lid.x
    let y = lid.y
    let j = gid.x
    let i = gid.y
    let n = size[0]
    let s = 0.0f32
    for t in 0..n / 16 {
        left[y * 16 + x] = a[i * n + t * 16 + x]
        right[y * 16 + x] = b[(t * 16 + y) * n + j]
        barrier acq_rel
        for k in 0..16 {
            s = s + left[y * 16 + k] * right[k * 16 + x]
        }
        barrier acq_rel
    }
    c[i * n + j] = s
}
