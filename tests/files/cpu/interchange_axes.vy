// test: cpu interchange_axes
//
// x and the axis along which memory is contiguous change places.

// case: rows along x
program workgroup(16, 4, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
if gid.x < told[1] {
    if gid.y < n {
        out[gid.x * n + gid.y] = a[gid.x * n + gid.y] + 1.0f32
    }
}
// expect:
program workgroup(4, 16, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
if gid.y < told[1] {
    if gid.x < n {
        out[gid.y * n + gid.x] = a[gid.y * n + gid.x] + 1.0f32
    }
}
// interchanged_axis: 1

// case: x is contiguous already
program workgroup(16, 4, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
if gid.y < n { out[gid.y * n + gid.x] = a[gid.y * n + gid.x] }
// expect: unchanged

// case: ids of the workgroup are observed
program workgroup(16, 4, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
out[gid.x * n + gid.y] = f32(lid.x)
// expect: unchanged

// case: atomics are ordered
program workgroup(16, 4, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
eval atomic_add(out[gid.x * n + gid.y], 1)
// expect: unchanged
