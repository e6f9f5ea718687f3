// test: cpu canonicalise_reductions
//
// Loops whose branches become selects, so that they vectorise.

// case: a conditional sum
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let total = 0u32
for k in starts[gid.x]..starts[gid.x + 1] {
    if x[k] > 5u32 {
        total = total + x[k]
    }
}
out[gid.x] = total
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let total = 0u32
for k in starts[gid.x]..starts[gid.x + 1u32] {
    let holds_1 = x[k] > 5u32
    total = select(holds_1, total + x[k], total)
}
out[gid.x] = total

// case: two conditions
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let total = 0u32
let most = 0u32
for k in starts[gid.x]..starts[gid.x + 1] {
    if x[k] > 5u32 {
        total = total + x[k]
        if x[k] > most { most = x[k] }
    }
}
out[gid.x] = total + most
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let total = 0u32
let most = 0u32
for k in starts[gid.x]..starts[gid.x + 1u32] {
    let holds_1 = x[k] > 5u32
    total = select(holds_1, total + x[k], total)
    most = select(holds_1, max(most, x[k]), most)
}
out[gid.x] = total + most

// case: a while loop that counts
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let p = starts[gid.x]
let end = starts[gid.x + 1]
let total = 0u32
while p < end {
    total = total + x[p]
    p = p + 1u32
}
out[gid.x] = total + p
// expect:
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let p = starts[gid.x]
let end = starts[gid.x + 1u32]
let total = 0u32
for p_1 in p..end {
    total = total + x[p_1]
}
p = max(p, end)
out[gid.x] = total + p

// case: a step that depends on another
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

let total = 0u32
let other = 0u32
for k in starts[gid.x]..starts[gid.x + 1] {
    if x[k] > total { total = total * 3u32 + x[k] }
    other = other + total
}
out[gid.x] = other
// expect: unchanged

// case: a store in the loop
program workgroup(64, 1, 1)

buffer x: read_only u32[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2

for k in starts[gid.x]..starts[gid.x + 1] {
    if x[k] > 5u32 { out[k] = 1u32 }
}
// expect: unchanged
