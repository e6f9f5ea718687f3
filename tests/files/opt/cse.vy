// test: opt cse
//
// The same expression again.

// case: twice in one body
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = gid.x * 3u32 + 1u32
out[1] = gid.x * 3u32 + 1u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let cse_1 = gid.x * 3u32 + 1u32
out[0] = cse_1
out[1] = cse_1

// case: a let that holds it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
out[0] = gid.x * 3u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
out[0] = x

// case: under a condition, computed before
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
if x < 9u32 {
    out[0] = gid.x * 3u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
if x < 9u32 {
    out[0] = x
}

// case: in two arms, neither before the other
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 9u32 {
    out[0] = gid.x * 3u32
} else {
    out[1] = gid.x * 3u32
}
// expect: unchanged

// case: a variable in it is assigned
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
out[0] = x + 1u32
x = 5u32
out[1] = x + 1u32
// expect: unchanged

// case: a store hides in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = out[1] + 1u32
out[2] = out[1] + 1u32
// expect: unchanged

// case: an atomic in an operand between
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

out[0] = (h[1] + 1u32) + atomic_add(h[1], 1u32) + (h[1] + 1u32)
// expect: unchanged

// case: names of sibling scopes do not collide
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 9u32 {
    let cse_1 = 1u32
    out[0] = cse_1
}
out[0] = gid.x * 3u32
out[1] = gid.x * 3u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 9u32 {
    let cse_1 = 1u32
    out[0] = cse_1
}
let cse_2 = gid.x * 3u32
out[0] = cse_2
out[1] = cse_2
