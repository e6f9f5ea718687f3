// test: cpu combine_loads
//
// The bytes of a word become one expression, which is loaded at once.

// case: a little-endian word
program workgroup(64, 1, 1)

buffer bytes: read_only u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 4
let w = u32(bytes[p])
let q = p + 1
w = w | u32(bytes[q]) << 8
w = w | u32(bytes[p + 2]) << 16
w = w | u32(bytes[p + 3]) << 24
out[gid.x] = w
// expect:
program workgroup(64, 1, 1)

buffer bytes: read_only u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 4u32
let q = p + 1u32
let w = u32(bytes[p]) | (u32(bytes[p + 1u32]) << 8u32) | (u32(bytes[p + 2u32]) << 16u32) | (u32(bytes[p + 3u32]) << 24u32)
out[gid.x] = w

// case: a partial word is read
program workgroup(64, 1, 1)

buffer bytes: read_only u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 2
let w = u32(bytes[p])
out[gid.x + 1] = w
w = w | u32(bytes[p + 1]) << 8
out[gid.x] = w
// expect: unchanged

// case: nothing is shifted
program workgroup(64, 1, 1)

buffer bytes: read_only u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 2
let w = u32(bytes[p])
w = w + u32(bytes[p + 1])
out[gid.x] = w
// expect: unchanged

// case: a partial word is kept
program workgroup(64, 1, 1)

buffer bytes: read_only u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 2
let w = u32(bytes[p])
let low = w * 3u32
w = w | u32(bytes[p + 1]) << 8
out[gid.x] = w + low
// expect: unchanged

// case: a store to the same bytes in between
program workgroup(64, 1, 1)

buffer bytes: read_write u8[] @0
buffer out: read_write u32[] @1

let p = gid.x * 2
let w = u32(bytes[p])
bytes[p] = 0u8
w = w | u32(bytes[p + 1]) << 8
out[gid.x] = w
// expect: unchanged
