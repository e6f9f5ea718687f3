// test: cpu cluster_stores
//
// Stores to the members of one structure become adjacent.

// case: three members, computed one after the other
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer b: read_write u8[] @1

let x = a[gid.x * 4]
b[gid.x * 3] = x
let y = a[gid.x * 4 + 1] + x
b[gid.x * 3 + 1] = y
let z = a[gid.x * 4 + 2] + y
b[gid.x * 3 + 2] = z
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer b: read_write u8[] @1

let x = a[gid.x * 4u32]
let y = a[gid.x * 4u32 + 1u32] + x
let z = a[gid.x * 4u32 + 2u32] + y
b[gid.x * 3u32] = x
b[gid.x * 3u32 + 1u32] = y
b[gid.x * 3u32 + 2u32] = z

// case: members of an array of three axes, each in bounds under a condition
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer b: read_write u8[] @1
buffer n: uniform u32[1] @2

let depth = n[0]
let first = gid.x * depth
b[select(depth != 0, first, 4294967295)] = 1u8
let y = a[gid.x]
b[select(depth > 1, first + 1, 4294967295)] = y
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer b: read_write u8[] @1
buffer n: uniform u32[1] @2

let depth = n[0]
let first = gid.x * depth
let y = a[gid.x]
b[select(depth != 0u32, first, 4294967295u32)] = 1u8
b[select(depth > 1u32, first + 1u32, 4294967295u32)] = y

// case: inside a branch, past a store to another array
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer b: read_write f32[] @1
buffer c: read_write f32[] @2

if gid.x < 100 {
    b[gid.x * 2] = a[gid.x]
    c[gid.x] = 1f32
    let y = a[gid.x] * 2f32
    b[gid.x * 2 + 1] = y
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer b: read_write f32[] @1
buffer c: read_write f32[] @2

if gid.x < 100u32 {
    c[gid.x] = 1.0f32
    let y = a[gid.x] * 2.0f32
    b[gid.x * 2u32] = a[gid.x]
    b[gid.x * 2u32 + 1u32] = y
}

// case: what is in between reads the array
program workgroup(64, 1, 1)

buffer b: read_write f32[] @0

b[gid.x * 2] = 1f32
let y = b[gid.x * 4]
b[gid.x * 2 + 1] = y
// expect: unchanged

// case: what is in between changes what the store reads
program workgroup(64, 1, 1)

buffer b: read_write f32[] @0
buffer c: read_write f32[] @1

b[gid.x * 2] = c[gid.x]
c[gid.x] = 0f32
b[gid.x * 2 + 1] = 1f32
// expect: unchanged

// case: a variable of the index is assigned in between
program workgroup(64, 1, 1)

buffer b: read_write f32[] @0

let i = gid.x * 2
b[i] = 1f32
i = i + 7
b[i] = 2f32
// expect: unchanged

// case: a variable that is stored is assigned in between
program workgroup(64, 1, 1)

buffer b: read_write u32[] @0

let v = gid.x
b[gid.x * 2] = v
v = v + 7
b[gid.x * 2 + 1] = v
// expect: unchanged

// case: elements that are no members of one structure
program workgroup(64, 1, 1)

buffer b: read_write u32[] @0

b[gid.x] = 1
let y = gid.x * 3
b[gid.x + 1000] = y
// expect: unchanged

// case: one element stored to twice
program workgroup(64, 1, 1)

buffer b: read_write u32[] @0

b[gid.x] = 1
let y = gid.x * 3
b[gid.x] = y
// expect: unchanged

// case: an atomic in between
program workgroup(64, 1, 1)

buffer b: read_write u32[] @0
buffer n: read_write u32[] @1

b[gid.x * 2] = 1
let at = atomic_add(n[0], 1)
b[gid.x * 2 + 1] = at
// expect: unchanged

// case: a barrier in between
program workgroup(64, 1, 1)

buffer b: read_write u32[] @0

b[gid.x * 2] = 1
barrier acq_rel
b[gid.x * 2 + 1] = 2
// expect: unchanged
