// The pull that every body feels from all others, in the plane.
program workgroup(64, 1, 1)

buffer px: read_only f32[] @0
buffer py: read_only f32[] @1
buffer mass: read_only f32[] @2
buffer ax: read_write f32[] @3 output live_out
buffer ay: read_write f32[] @4 output live_out

region "nbody" {
    let i = gid.x
    if i < len(mass) {
        let x = px[i]
        let y = py[i]
        let fx = 0.0f32
        let fy = 0.0f32
        for j in 0..len(mass) {
            let dx = px[j] - x
            let dy = py[j] - y
            let r = 1.0f32 / sqrt(dx * dx + dy * dy + 0.01f32)
            let w = mass[j] * r * r * r
            fx = fx + w * dx
            fy = fy + w * dy
        }
        ax[i] = fx
        ay[i] = fy
    }
}
