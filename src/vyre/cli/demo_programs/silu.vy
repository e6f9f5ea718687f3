// The activation function x / (1 + exp(-x)).
program workgroup(256, 1, 1)

buffer x: read_only f32[] @0
buffer out: read_write f32[] @1 output live_out

region "silu" {
    let i = gid.x
    if i < len(out) {
        let v = x[i]
        out[i] = v / (1.0f32 + exp(-v))
    }
}
