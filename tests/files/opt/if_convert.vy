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
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = 0u32
let cond_1 = x < 4u32
let x_1 = 9u32
let y_1 = x_1 + 1u32
x = select(cond_1, x_1, x)
y = select(cond_1, y_1, y)
out[x] = y

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

// case: nested branches and variables of the arms
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[gid.x]
let k = 0u32
if x < 4u32 {
    let twice = x + x
    x = twice + k
    if x == 3u32 {
        k = k + x
    }
} else if x < 9u32 {
    let twice = x * 3u32
    k = twice
}
out[gid.x] = x + k
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[gid.x]
let k = 0u32
let cond_2 = x < 4u32
let twice_2 = x + x
let x_1 = twice_2 + k
let k_2 = select(x_1 == 3u32, k + x_1, k)
let cond_3 = x < 9u32
let twice_3 = x * 3u32
let k_3 = twice_3
let k_4 = select(cond_3, k_3, k)
x = select(cond_2, x_1, x)
k = select(cond_2, k_2, k_4)
out[gid.x] = x + k

// case: a load in an arm stays under its guard
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
let y = 2u32
if gid.x < 4u32 {
    x = y
    y = a[gid.x]
}
out[gid.x] = x + y
// expect: unchanged

// case: a division that is slow stays under its guard
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
let y = 2u32
if gid.x < 4u32 {
    x = y / x
    y = x
}
out[gid.x] = x + y
// expect: unchanged

// case: five variables are too many
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0

let p = 1u32
let q = 2u32
let r = 3u32
let s = 4u32
let t = 5u32
if gid.x < 4u32 {
    p = q
    q = r
    r = s
    s = t
    t = 1u32
}
out[gid.x] = p + q + r + s + t
// expect: unchanged
