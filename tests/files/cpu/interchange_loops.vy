// test: cpu interchange_loops
//
// A loop over planes runs around the lanes of a workgroup.

// case: planes
program workgroup(16, 16, 1)

buffer image: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let h = told[0]
let w = told[1]
if (gid.y < h) & (gid.x < w) {
    for c in 0..told[2] {
        out[(c * h + gid.y) * w + gid.x] = image[(c * h + gid.y) * w + gid.x] * 2.0f32
    }
}
// expect:
program workgroup(16, 16, 1)

buffer image: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

for c in 0..told[2] {
    let h = told[0]
    let w = told[1]
    if (gid.y < h) & (gid.x < w) {
        out[(c * h + gid.y) * w + gid.x] = image[(c * h + gid.y) * w + gid.x] * 2.0f32
    }
}
// outer_counters: c

// case: pixels whose channels are contiguous
program workgroup(16, 16, 1)

buffer image: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let h = told[0]
let w = told[1]
if (gid.y < h) & (gid.x < w) {
    for c in 0..told[2] {
        out[(gid.y * w + gid.x) * told[2] + c] = image[(gid.y * w + gid.x) * told[2] + c] * 2.0f32
    }
}
// expect: unchanged

// case: a number that differs between lanes
program workgroup(16, 16, 1)

buffer image: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let h = told[0]
let w = told[1]
if (gid.y < h) & (gid.x < w) {
    for c in 0..told[gid.x & 3u32] {
        out[(c * h + gid.y) * w + gid.x] = image[(c * h + gid.y) * w + gid.x] * 2.0f32
    }
}
// expect: unchanged

// case: work after the loop
program workgroup(16, 16, 1)

buffer image: read_only f32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write f32[] @2

let h = told[0]
let w = told[1]
if (gid.y < h) & (gid.x < w) {
    for c in 0..told[2] {
        out[(c * h + gid.y) * w + gid.x] = image[(c * h + gid.y) * w + gid.x] * 2.0f32
    }
    out[0] = 1.0f32
}
// expect: unchanged
