// test: opt reduce_strength
//
// Shifts and masks by proved rules.

// case: powers of two
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x * 4u32] = gid.x / 8u32 + gid.x % 16u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x << 2u32] = (gid.x >> 3u32) + (gid.x & 15u32)

// case: signed, not known to be positive
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = i32(a[0])
out[0] = u32(x / 4i32) + u32(x % 4i32) + u32(x * 4i32)
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = i32(a[0])
out[0] = u32(x / 4i32) + u32(x % 4i32) + u32(x << 2i32)

// case: signed, known to be positive
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = i32(lid.x)
out[0] = u32(x / 4i32) + u32(x % 4i32)
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = i32(lid.x)
out[0] = u32(x >> 2i32) + u32(x & 3i32)

// case: not a power of two
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = gid.x * 3u32 + gid.x / 7u32
// expect: unchanged

// case: an atomic is not repeated
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

h[1] = atomic_add(h[0], 1u32) * 8u32
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

h[1] = atomic_add(h[0], 1u32) << 3u32
