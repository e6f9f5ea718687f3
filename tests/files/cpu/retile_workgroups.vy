// test: cpu interchange_axes retile_workgroups
//
// Workgroups of other shapes, where none is observed; the first pass makes rows short.

// case: rows share what a loop loads
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
let s = 0.0f32
for k in 0..n { s = s + a[k * n + gid.x] }
if gid.x < n { out[gid.y * n + gid.x] = s }
// expect:
program workgroup(1, 4, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
let s = 0.0f32
for k in 0..n {
    s = s + a[k * n + gid.x]
}
if gid.x < n {
    out[gid.y * n + gid.x] = s
}
// tiling: Tiling(size=(64, 1, 1), rows=4)

// case: rows of one lane
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
out[gid.x * n + gid.y] = 1.0f32
// expect:
program workgroup(1, 1, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
out[gid.y * n + gid.x] = 1.0f32
// interchanged_axis: 1
// tiling: Tiling(size=(1, 64, 1), rows=1)

// case: work that may not be repeated
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let n = told[0]
let s = out[gid.y * n + gid.x]
for k in 0..n { s = s + a[k * n + gid.x] }
out[gid.y * n + gid.x] = s
// expect: unchanged
