// test: opt redundant_loads
//
// The same element again.

// case: read-only memory
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = a[gid.x] + 1u32
out[1] = a[gid.x] + 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let loaded_1 = a[gid.x]
out[0] = loaded_1 + 1u32
out[1] = loaded_1 + 2u32

// case: across a store to another buffer
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[gid.x]
out[0] = 1u32
out[1] = a[gid.x] + x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = a[gid.x]
out[0] = 1u32
out[1] = x + x

// case: across a store to the buffer
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = out[gid.x]
out[0] = 1u32
out[1] = out[gid.x] + x
// expect: unchanged

// case: across an atomic in an operand
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

out[0] = h[1] + atomic_add(h[1], 1u32) + h[1]
// expect: unchanged

// case: across a barrier
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tile: workgroup u32[64]

let x = tile[lid.x]
barrier seq_cst
out[0] = tile[lid.x] + x
// expect: unchanged

// case: in a loop that stores to it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = out[5]
for i in 0u32..4u32 {
    out[i + 9u32] = out[5] + x
    out[5] = i
}
// expect: unchanged
