// test: opt forward_stores
//
// A value that was just stored.

// case: the same element
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = gid.x * 3u32
let x = out[lid.x]
out[1] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let stored_1 = gid.x * 3u32
out[lid.x] = stored_1
let x = stored_1
out[1] = x

// case: out of bounds a load gives zero
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 5u32
let x = out[gid.x]
out[1] = x
// expect: unchanged

// case: inside a guard it is in bounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 64u32 {
    out[gid.x] = 5u32
    let x = out[gid.x] + 1u32
    out[gid.x] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 64u32 {
    out[gid.x] = 5u32
    let x = 5u32 + 1u32
    out[gid.x] = x
}

// case: the stored variable is assigned in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let v = a[0]
out[lid.x] = v
v = v + 1u32
let x = out[lid.x]
out[1] = x + v
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let v = a[0]
let stored_1 = v
out[lid.x] = stored_1
v = v + 1u32
let x = stored_1
out[1] = x + v

// case: a store to another element in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 5u32
out[63u32 - lid.x] = 6u32
let x = out[lid.x]
out[0] = x
// expect: unchanged

// case: a barrier in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 5u32
barrier seq_cst
let x = out[lid.x]
out[0] = x
// expect: unchanged

// case: elements that do not keep the value
program workgroup(64, 1, 1)

buffer q: read_write f8e4m3[64] @0
buffer out: read_write f32[64] @1

q[lid.x] = 0.3f32
out[lid.x] = q[lid.x]
// expect: unchanged

// case: a forwarded value that is stored again
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer own: local u32[2]
buffer other: local u32[2]

own[0] = a[gid.x]
other[0] = own[0]
out[lid.x] = other[0] + own[0]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer own: local u32[2]
buffer other: local u32[2]

let stored_1 = a[gid.x]
own[0] = stored_1
other[0] = stored_1
out[lid.x] = stored_1 + stored_1

// case: a literal that would be an index out of bounds, or a divisor
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u32[2]

own[0] = 70u32
own[1] = 0u32
out[0] = out[own[0]] + gid.x / own[1]
out[own[0]] = 1u32
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u32[2]

own[0] = 70u32
own[1] = 0u32
out[0] = out[own[0]] + 4294967295u32
out[own[0]] = 1u32
