// test: cpu split_full_iterations
//
// Iterations in which every lane is active lose their guard.

// case: a guarded sum
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let s = 0u32
for k in 0..told[1] {
    let i = k * 64u32 + lid.x
    if i < n {
        s = s + x[i]
    }
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let s = 0u32
let whole_1 = min(select((0u32 * 64u32 + 0u32 < n) & (n - (0u32 * 64u32 + 0u32) >= 64u32), (n - (0u32 * 64u32 + 0u32) - 64u32) / 64u32 + 1u32, 0u32), told[1])
for k in 0..whole_1 {
    let i = k * 64u32 + lid.x
    s = s + x[i]
}
for k.1 in whole_1..told[1] {
    let i.1 = k.1 * 64u32 + lid.x
    if i.1 < n {
        s = s + x[i.1]
    }
}
out[gid.x] = s

// case: an end that differs between lanes
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let s = 0u32
for k in 0..told[1] {
    let i = k * 64u32 + lid.x
    if i < n + lid.x {
        s = s + x[i]
    }
}
out[gid.x] = s
// expect: unchanged

// case: gaps between iterations
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let s = 0u32
for k in 0..told[1] {
    let i = k * 65u32 + lid.x
    if i < n {
        s = s + x[i]
    }
}
out[gid.x] = s
// expect: unchanged

// case: more lanes than registers hold sums for
program workgroup(512, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let s = 0u32
for k in 0..told[1] {
    let i = k * 512u32 + lid.x
    if i < n {
        s = s + x[i]
    }
}
out[gid.x] = s
// expect: unchanged
