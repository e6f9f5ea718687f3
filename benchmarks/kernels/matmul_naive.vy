program workgroup(16, 16, 1)

buffer a: read_only f32[] @0
buffer b: read_only f32[] @1
buffer c: read_write f32[] @2
buffer size: uniform u32[1] @3

region "matmul_naive" {
    let j = gid.x
    let i = gid.y
    let n = size[0]
    if (i < n) & (j < n) {
        let s = 0.0f32
        for k in 0..n {
            s = s + a[i * n + k] * b[k * n + j]
        }
        c[i * n + j] = s
    }
}
