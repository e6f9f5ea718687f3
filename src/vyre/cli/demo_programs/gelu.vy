// The activation function of transformers, in its tanh form.
program workgroup(256, 1, 1)

buffer x: read_only f32[] @0
buffer out: read_write f32[] @1 output live_out

region "gelu" {
    let i = gid.x
    if i < len(out) {
        let v = x[i]
        let inner = 0.7978846f32 * (v + 0.044715f32 * v * v * v)
        out[i] = 0.5f32 * v * (1.0f32 + tanh(inner))
    }
}
