// Stages that were kernels of their own, joined with a sync of the whole grid between each two.
program workgroup(64, 1, 1)

buffer x: read_only f32[4096] @0
buffer y: read_write f32[4096] @1
buffer z: read_write f32[4096] @2
buffer tmp: scratch f32[4096]

region "elementwise" {
    if gid.x < 4096u32 {
        tmp[gid.x] = x[gid.x] * 2.0f32
    }
}
barrier grid_sync
region "elementwise" {
    if gid.x < 4096u32 {
        y[gid.x] = tmp[gid.x] + 1.0f32
    }
}
barrier grid_sync
region "elementwise" {
    if gid.x < 4096u32 {
        z[gid.x] = x[gid.x] * x[gid.x]
    }
}
