// test: cpu grid_stride_loops
//
// Loops over the grid run around the lanes of a row.

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
for iteration_1 in 0..trips_1 {
    if gid.x < n - iteration_1 * step {
        let k_1 = gid.x + iteration_1 * step
        s = s + x[k_1]
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
// trip_counts: trips_1

// case: a loop that is left
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
    if s > 9u32 { break }
    k = k + step
}
out[gid.x] = s
// expect: unchanged

// case: a step of its own for each lane
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = told[0]
let step = x[gid.x]
let s = 0u32
let k = gid.x
while k < n {
    s = s + x[k]
    k = k + step
}
out[gid.x] = s
// expect: unchanged

// case: short rows
program workgroup(32, 1, 1)

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
// expect: unchanged
