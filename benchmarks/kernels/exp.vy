program workgroup(256, 1, 1)

buffer x: read_only f32[] @0
buffer y: read_write f32[] @1

region "exp" {
    let i = gid.x
    if i < len(y) {
        y[i] = exp(x[i])
    }
}
