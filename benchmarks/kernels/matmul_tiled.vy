// Tiles of 32 × 32 of both matrices pass through workgroup memory.
program workgroup(32, 32, 1)

buffer a: read_only f32[] @0
buffer b: read_only f32[] @1
buffer c: read_write f32[] @2
buffer size: uniform u32[1] @3
buffer left: workgroup f32[1024]
buffer right: workgroup f32[1024]

region "matmul_tiled" {
    let x = lid.x
    let y = lid.y
    let j = gid.x
    let i = gid.y
    let n = size[0]
    let s = 0.0f32
    for t in 0..n / 32 {
        left[y * 32 + x] = a[i * n + t * 32 + x]
        right[y * 32 + x] = b[(t * 32 + y) * n + j]
        barrier acq_rel
        for k in 0..32 {
            s = s + left[y * 32 + k] * right[k * 32 + x]
        }
        barrier acq_rel
    }
    c[i * n + j] = s
}
