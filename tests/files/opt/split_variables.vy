// test: opt split_variables
//
// A variable that is assigned in the body that binds it ends there; a new one begins.

// case: used again for something else
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[lid.x]
out[lid.x] = x
x = x + 1u32
out[x] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[lid.x]
out[lid.x] = x
let x_1 = x + 1u32
out[x_1] = 2u32

// case: what inner bodies assign later is the new one
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 0u32
for i in 0..4 {
    x = x + a[i]
}
x = x * 3u32
if x > 9u32 {
    x = x - 1u32
    let y = x
    y = y + x
    out[y] = x
}
while x < 100u32 {
    x = x + x
}
out[0] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 0u32
for i in 0..4 {
    x = x + a[i]
}
let x_1 = x * 3u32
if x_1 > 9u32 {
    x_1 = x_1 - 1u32
    let y = x_1
    let y_1 = y + x_1
    out[y_1] = x_1
}
while x_1 < 100u32 {
    x_1 = x_1 + x_1
}
out[0] = x_1

// case: names of other scopes and buffers are left alone
program workgroup(64, 1, 1)

buffer x_1: read_write u32[64] @0

if lid.x < 3u32 {
    let x = 1u32
    x = x + lid.x
    x_1[x] = x
} else {
    let x = 2u32
    x_1[x] = x
    x = 5u32
    x = x + 1u32
    x_1[x] = x
}
// expect:
program workgroup(64, 1, 1)

buffer x_1: read_write u32[64] @0

if lid.x < 3u32 {
    let x = 1u32
    let x_2 = x + lid.x
    x_1[x_2] = x_2
} else {
    let x = 2u32
    x_1[x] = x
    let x_3 = 5u32
    let x_4 = x_3 + 1u32
    x_1[x_4] = x_4
}

// case: assigned in inner bodies only
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0

let x = 0u32
if lid.x > 7u32 {
    x = 1u32
}
out[lid.x] = x
// expect: unchanged
