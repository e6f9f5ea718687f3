program workgroup(256, 1, 1)

buffer a: read_write f32[] @0
buffer b: read_only f32[] @1
buffer c: read_only f32[] @2

region "triad" {
    let i = gid.x
    if i < len(a) {
        a[i] = b[i] + 3.0f32 * c[i]
    }
}
