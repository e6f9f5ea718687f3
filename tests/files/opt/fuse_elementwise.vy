// test: opt fuse_elementwise
//
// One element per invocation, handed from stage to stage.

// case: producer and consumer
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer tmp: scratch f32[4096]

region "scale" {
    if gid.x < len(a) {
        tmp[gid.x] = a[gid.x] * 2.0f32
    }
}
barrier grid_sync
region "shift" {
    if gid.x < len(out) {
        out[gid.x] = tmp[gid.x] + 1.0f32
    }
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1

let tmp_1 = 0.0f32
region "scale" {
    if gid.x < len(a) {
        tmp_1 = a[gid.x] * 2.0f32
    }
}
barrier grid_sync
region "shift" {
    if gid.x < len(out) {
        out[gid.x] = select(gid.x + 0u32 < 4096u32, tmp_1, 0.0f32) + 1.0f32
    }
}

// case: proven in bounds
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer tmp: scratch f32[4096]

if gid.x < 4096u32 {
    tmp[gid.x] = a[gid.x] * 2.0f32
    out[gid.x] = tmp[gid.x] + 1.0f32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1

let tmp_1 = 0.0f32
if gid.x < 4096u32 {
    tmp_1 = a[gid.x] * 2.0f32
    out[gid.x] = tmp_1 + 1.0f32
}

// case: a neighbour's element
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer tmp: scratch f32[4096]

tmp[gid.x] = a[gid.x] * 2.0f32
barrier grid_sync
out[gid.x] = tmp[gid.x + 1u32] + 1.0f32
// expect: unchanged

// case: a second axis
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer tmp: scratch f32[4096]

if gid.y == 0u32 {
    tmp[gid.x] = a[gid.x] * 2.0f32
}
barrier grid_sync
out[gid.x] = tmp[gid.x] + 1.0f32
// expect: unchanged
