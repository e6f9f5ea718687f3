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

// case: a range of signed integers, whose step may be negative
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let s = 0u32
let start = i32(gid.x)
let stop = i32(told[0]) - 20i32
let step = i32(told[1]) - 65i32
let up = step > 0i32
let low = select(up, start, stop)
let high = select(up, stop, start)
let size = u32(step)
for k in 0..select(low < high, (u32(high) - u32(low) - 1) / select(up, size, -size) + 1, 0) {
    let i = start + i32(k) * step
    s = s + x[i] + u32(i)
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let s = 0u32
let start = i32(gid.x)
let stop = i32(told[0]) - 20i32
let step = i32(told[1]) - 65i32
let up = step > 0i32
let low = select(up, start, stop)
let high = select(up, stop, start)
let size = u32(step)
let end_1 = u32(max(stop, 0i32))
let safe_1 = (num_workgroups.x <= 33554432u32) & up
let trips_1 = select(safe_1 & (wid.x * 64u32 < end_1), (end_1 - wid.x * 64u32 - 1u32) / size + 1u32, 0u32)
for k in 0..trips_1 {
    if gid.x < end_1 - k * size {
        let i = i32(gid.x + k * size)
        s = s + x[i] + u32(i)
    }
}
if ~safe_1 {
    for k.1 in 0..select(low < high, (u32(high) - u32(low) - 1u32) / select(up, size, -size) + 1u32, 0u32) {
        let i.1 = start + i32(k.1) * step
        s = s + x[i.1] + u32(i.1)
    }
}
out[gid.x] = s
// trip_counts: trips_1

// case: a range of signed integers with a step that is a number
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let s = 0u32
let start = i32(lid.x)
let stop = i32(told[0]) - 20i32
for k in 0..select(start < stop, ((u32(stop) - u32(start) - 1) >> 6) + 1, 0) {
    s = s + x[start + (i32(k) << 6i32)] * 3
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let s = 0u32
let start = i32(lid.x)
let stop = i32(told[0]) - 20i32
let end_1 = u32(max(i32(told[0]) - 20i32, 0i32))
let safe_1 = true
let trips_1 = select(safe_1 & (0u32 < end_1), (end_1 - 0u32 - 1u32) / 64u32 + 1u32, 0u32)
for k in 0..trips_1 {
    if lid.x < end_1 - k * 64u32 {
        s = s + x[start + (i32(k) << 6i32)] * 3u32
    }
}
if ~safe_1 {
    for k.1 in 0..select(start < stop, ((u32(stop) - u32(start) - 1u32) >> 6u32) + 1u32, 0u32) {
        s = s + x[start + (i32(k.1) << 6i32)] * 3u32
    }
}
out[gid.x] = s
// trip_counts: trips_1

// case: an id compared with a signed integer
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = i32(told[0]) - 20i32
let step = told[1]
let s = 0u32
let k = gid.x
while i32(k) < n {
    s = s + x[k]
    k = k + step
}
out[gid.x] = s
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let n = i32(told[0]) - 20i32
let step = told[1]
let s = 0u32
let k = gid.x
let end_1 = u32(max(n, 0i32))
let safe_1 = (step != 0u32) & (end_1 <= 0u32 - step) & (num_workgroups.x <= 33554432u32) & (step <= 2147483648u32 - end_1)
let trips_1 = select(safe_1 & (wid.x * 64u32 < end_1), (end_1 - wid.x * 64u32 - 1u32) / step + 1u32, 0u32)
for iteration_1 in 0..trips_1 {
    if gid.x < end_1 - iteration_1 * step {
        let k_1 = gid.x + iteration_1 * step
        s = s + x[k_1]
    }
}
if ~safe_1 {
    let k_2 = gid.x
    while i32(k_2) < n {
        s = s + x[k_2]
        k_2 = k_2 + step
    }
}
out[gid.x] = s
// trip_counts: trips_1

// case: a signed range from another place
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer told: read_only u32[4] @1
buffer out: read_write u32[] @2

let s = 0u32
let start = i32(gid.x) + 1i32
let stop = i32(told[0])
for k in 0..select(start < stop, ((u32(stop) - u32(start) - 1) >> 6) + 1, 0) {
    s = s + x[start + (i32(k) << 6i32)]
}
out[gid.x] = s
// expect: unchanged
