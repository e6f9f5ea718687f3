// test: opt dead_stores
//
// Overwritten before anything can read it.

// case: twice in a row
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
out[gid.x] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 2u32

// case: something else in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
let x = a[0]
out[gid.x] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[0]
out[gid.x] = x

// case: the overwriting store reads the buffer
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
out[gid.x] = out[gid.x + 1u32]
// expect: unchanged

// case: its index loads from the buffer
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32
out[out[0]] = 2u32
// expect: unchanged

// case: a variable of the index is assigned in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let i = gid.x
out[i] = 1u32
i = i + 1u32
out[i] = 2u32
// expect: unchanged

// case: a barrier in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
barrier seq_cst
out[gid.x] = 2u32
// expect: unchanged

// case: a way out in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
if a[0] == 0u32 {
    return
}
out[gid.x] = 2u32
// expect: unchanged

// case: its value has an effect
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

out[gid.x] = atomic_add(h[0], 1u32)
out[gid.x] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

eval atomic_add(h[0], 1u32)
out[gid.x] = 2u32

// case: put back where it came from
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = out[gid.x]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
