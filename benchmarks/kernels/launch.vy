program workgroup(64, 1, 1)

buffer x: read_only f32[] @0
buffer y: read_write f32[] @1

region "launch" {
    let i = gid.x
    if i < len(y) {
        y[i] = x[i] + 1.0f32
    }
}
