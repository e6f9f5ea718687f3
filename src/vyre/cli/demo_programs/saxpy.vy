program workgroup(256, 1, 1)

buffer a: uniform f32[1] @0
buffer x: read_only f32[] @1
buffer y: read_only f32[] @2
buffer out: read_write f32[] @3 output live_out

region "saxpy" {
    let i = gid.x
    if i < len(out) {
        out[i] = a[0] * x[i] + y[i]
    }
}
