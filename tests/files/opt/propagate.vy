// test: opt propagate
//
// Literals, ids, copies, and values that are read once.

// case: a literal and a copy
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
let y = x
out[y] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
let y = 4u32
out[4] = 4u32

// case: until it is assigned
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
out[0] = x
x = gid.x
out[1] = x
x = 5u32
out[2] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
out[0] = 4u32
x = gid.x
out[1] = gid.x
x = 5u32
out[2] = 5u32

// case: a copy until its source is assigned
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = x
out[0] = y
x = x + 1u32
out[1] = y
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = x
out[0] = x
x = x + 1u32
out[1] = y

// case: a branch that assigns it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
if gid.x < 2u32 {
    x = 5u32
    out[0] = x
}
out[1] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4u32
if gid.x < 2u32 {
    x = 5u32
    out[0] = 5u32
}
out[1] = x

// case: a loop that assigns it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 0u32
for i in 0u32..4u32 {
    out[i] = x
    x = x + 1u32
}
out[9] = x
// expect: unchanged

// case: what a condition tells
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
if x == 7u32 {
    out[0] = x
} else {
    out[1] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
if x == 7u32 {
    out[0] = 7u32
} else {
    out[1] = x
}

// case: a value read once moves, but not into a loop
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
out[x + 1u32] = 1u32
let y = gid.x * 5u32
for i in 0u32..4u32 {
    out[i] = y
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x * 3u32 + 1u32] = 1u32
let y = gid.x * 5u32
for i in 0..4 {
    out[i] = y
}

// case: a value that loads stays
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
out[0] = 1u32
out[1] = x
// expect: unchanged

// case: a divisor that would be a literal zero
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let z = 0u32
out[0] = gid.x / z
out[1] = gid.x % z
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let z = 0u32
out[0] = 4294967295u32
out[1] = 0u32

// case: an index that would be out of bounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let i = 64u32
out[i] = 1u32
out[0] = out[i]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let i = 64u32
out[0] = 0u32
