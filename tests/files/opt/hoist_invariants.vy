// test: opt hoist_invariants
//
// The same in every round.

// case: arithmetic and read-only loads
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    out[i] = a[gid.x] * 3u32 + i
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let invariant_1 = a[gid.x] * 3u32
for i in 0..16 {
    out[i] = invariant_1 + i
}

// case: a chain of lets
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    let x = a[gid.x]
    let y = x * x
    out[i] = y + i
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[gid.x]
let y = x * x
for i in 0..16 {
    out[i] = y + i
}

// case: out of two loops at once
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..4u32 {
    for j in 0u32..4u32 {
        out[i * 4u32 + j] = gid.x * 3u32
    }
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let invariant_1 = gid.x * 3u32
for i in 0..4 {
    let invariant_2 = i * 4u32
    for j in 0..4 {
        out[invariant_2 + j] = invariant_1
    }
}

// case: memory that the loop writes
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    out[i] = out[0] + 1u32
}
// expect: unchanged

// case: memory after a barrier in the loop
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tile: workgroup u32[64]

for i in 0u32..16u32 {
    out[gid.x] = tile[5] + i
    barrier seq_cst
}
// expect: unchanged

// case: what is done only sometimes stays
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    if a[i] == 0u32 {
        out[i] = gid.x * 3u32
    }
}
// expect: unchanged

// case: a name that another scope uses too
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    let x = a[gid.x]
    out[i] = x
}
for i in 0u32..16u32 {
    let x = a[gid.x + 1u32]
    out[i] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x_1 = a[gid.x]
for i in 0..16 {
    out[i] = x_1
}
let x = a[gid.x + 1u32]
for i in 0..16 {
    out[i] = x
}

// case: an atomic stays
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

for i in 0u32..16u32 {
    out[i] = atomic_add(h[0], 1u32)
}
// expect: unchanged

// case: a while
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let n = a[0]
while n > a[1] + 5u32 {
    out[n] = 1u32
    n = n - 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let n = a[0]
let invariant_1 = a[1] + 5u32
while n > invariant_1 {
    out[n] = 1u32
    n = n - 1u32
}
