// test: opt if_convert
//
// Small branches as selects.

// case: one variable
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
if a[0] < 4u32 {
    x = 2u32
}
out[0] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
x = select(a[0] < 4u32, 2u32, x)
out[0] = x

// case: both arms
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
if a[0] < 4u32 {
    x = gid.x + 1u32
} else {
    x = gid.x
}
out[0] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
x = select(a[0] < 4u32, gid.x + 1u32, gid.x)
out[0] = x

// case: two variables, one of them in the condition
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = 0u32
if x < 4u32 {
    x = 9u32
    y = gid.x
}
out[x] = y
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = 0u32
let cond_1 = x < 4u32
x = select(cond_1, 9u32, x)
y = select(cond_1, gid.x, y)
out[x] = y

// case: a value that depends on the other variable
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = 0u32
if x < 4u32 {
    x = 9u32
    y = x + 1u32
}
out[x] = y
// expect: unchanged

// case: stores to one element
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 4u32 {
    out[gid.x] = 1u32
} else {
    out[gid.x] = 2u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = select(a[0] < 4u32, 1u32, 2u32)

// case: stores to different elements
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 4u32 {
    out[0] = 1u32
} else {
    out[1] = 2u32
}
// expect: unchanged

// case: a load is not worth doing always
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
if gid.x < 4u32 {
    x = a[gid.x]
}
out[0] = x
// expect: unchanged
