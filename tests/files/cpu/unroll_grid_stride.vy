// test: cpu grid_stride_loops unroll_grid_stride
//
// Four iterations of an interchanged reduction at a time.

// case: a sum
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let step = told[1]
let s = 0u32
let k = gid.x
while k < n {
    s = s + x[k]
    k = k + step
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let step = told[1]
let s = 0u32
let k = gid.x
let safe_1 = (step != 0u32) & (n <= 0u32 - step)
let trips_1 = select(safe_1 & (wid.x * 64u32 < n), (n - wid.x * 64u32 - 1u32) / step + 1u32, 0u32)
let whole_1 = select((trips_1 != 0u32) & (n - wid.x * 64u32 >= 1024u32), ((n - wid.x * 64u32 - 1024u32) / step + 1u32) / 4u32, 0u32)
for fours_1 in 0..whole_1 {
    {
        let k_1 = gid.x + (fours_1 * 4u32 + 0u32) * step
        s = s + x[k_1]
    }
    {
        let k_1.1 = gid.x + (fours_1 * 4u32 + 1u32) * step
        s = s + x[k_1.1]
    }
    {
        let k_1.2 = gid.x + (fours_1 * 4u32 + 2u32) * step
        s = s + x[k_1.2]
    }
    {
        let k_1.3 = gid.x + (fours_1 * 4u32 + 3u32) * step
        s = s + x[k_1.3]
    }
}
for iteration_1 in whole_1 * 4u32..trips_1 {
    if gid.x < n - iteration_1 * step {
        let k_1.4 = gid.x + iteration_1 * step
        s = s + x[k_1.4]
    }
}
if ~safe_1 {
    let k_2 = gid.x
    while k_2 < n {
        s = s + x[k_2]
        k_2 = k_2 + step
    }
}
out[gid.x] = s
// trip_counts: trips_1, whole_1
// outer_counters: fours_1
// longest_row: 1024

// case: a body that stores
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let step = told[1]
let s = 0u32
let k = gid.x
while k < n {
    out[k] = x[k]
    k = k + step
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let step = told[1]
let s = 0u32
let k = gid.x
let safe_1 = (step != 0u32) & (n <= 0u32 - step)
let trips_1 = select(safe_1 & (wid.x * 64u32 < n), (n - wid.x * 64u32 - 1u32) / step + 1u32, 0u32)
for iteration_1 in 0..trips_1 {
    if gid.x < n - iteration_1 * step {
        let k_1 = gid.x + iteration_1 * step
        out[k_1] = x[k_1]
    }
}
if ~safe_1 {
    let k_2 = gid.x
    while k_2 < n {
        out[k_2] = x[k_2]
        k_2 = k_2 + step
    }
}
out[gid.x] = s
// trip_counts: trips_1
