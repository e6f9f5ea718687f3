// Square matrices, one element each: the scale and the row's start are computed in the loop.
program workgroup(16, 16, 1)

buffer a: read_only f32[] @0
buffer b: read_only f32[] @1
buffer c: read_write f32[] @2
buffer size: uniform u32[1] @3
buffer scale: read_only f32[1] @4

region "matmul" {
    let n = size[0]
    if gid.x < n {
        if gid.y < n {
            let sum = 0.0f32
            for k in 0u32..size[0] {
                let row = gid.y * size[0]
                sum = sum + a[row + k] * b[k * size[0] + gid.x] * scale[0]
            }
            c[gid.y * size[0] + gid.x] = sum
        }
    }
}
