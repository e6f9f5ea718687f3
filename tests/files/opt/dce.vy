// test: opt dce
//
// What nothing wants.

// case: an unread variable
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 3u32
let y = x + 1u32
out[0] = 1u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32

// case: a counter that only feeds itself
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let n = 0u32
for i in 0u32..4u32 {
    n = n + 1u32
    out[i] = i
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0..4 {
    out[i] = i
}

// case: an assignment that is overwritten
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
out[0] = x
x = a[1]
x = a[2]
out[1] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
out[0] = x
x = a[2]
out[1] = x

// case: an unused atomic still happens
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

let x = atomic_add(h[0], 1u32) + 5u32
let y = x * 2u32
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[0], 1u32)

// case: an atomic inside a subgroup operation still happens
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

let x = subgroup_add(atomic_add(h[lid.x], 1u32))
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[lid.x], 1u32)

// case: empty statements
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 4u32 {
    let x = 1u32
}
for i in 0u32..4u32 {
}
out[0] = 1u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32

// case: a while may never end
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

while a[0] == 0u32 {
}
out[0] = 1u32
// expect: unchanged
