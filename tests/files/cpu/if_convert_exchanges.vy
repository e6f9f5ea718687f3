// test: cpu if_convert_exchanges
//
// Compare-exchange: both stores unconditional, each of a select.

// case: a sorting step
program workgroup(64, 1, 1)

buffer a: read_write i32[] @0
buffer out: read_write i32[] @1

let x = a[gid.x]
let y = a[gid.x + 64]
if x > y {
    a[gid.x] = y
    a[gid.x + 64] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_write i32[] @0
buffer out: read_write i32[] @1

let x = a[gid.x]
let y = a[gid.x + 64u32]
a[gid.x] = select(x > y, y, x)
a[gid.x + 64u32] = select(x > y, x, y)

// case: a store in between
program workgroup(64, 1, 1)

buffer a: read_write i32[] @0
buffer out: read_write i32[] @1

let x = a[gid.x]
let y = a[gid.x + 64]
out[gid.x] = y
if x > y {
    a[gid.x] = y
    a[gid.x + 64] = x
}
// expect: unchanged

// case: an element that was not loaded
program workgroup(64, 1, 1)

buffer a: read_write i32[] @0
buffer out: read_write i32[] @1

let x = a[gid.x]
let y = a[gid.x + 64]
if x > y {
    a[gid.x] = y
    a[gid.x + 65] = x
}
// expect: unchanged

// case: something else happens in the branch
program workgroup(64, 1, 1)

buffer a: read_write i32[] @0
buffer out: read_write i32[] @1

let x = a[gid.x]
let y = a[gid.x + 64]
if x > y {
    a[gid.x] = y
    a[gid.x + 64] = x
    out[gid.x] = 1i32
}
// expect: unchanged
