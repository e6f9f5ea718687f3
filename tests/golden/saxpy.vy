program workgroup(64, 1, 1)

buffer x: read_only f32[] @0
buffer y: read_write f32[] @1
buffer a: uniform f32[1] @2

region "vyre.program.root" {
    let i = gid.x
    if i < len(y) {
        y[i] = fma(a[0], x[i], y[i])
    }
}
