// test: opt dead_buffers
//
// Memory of the program's own that is only stored to.

// case: scratch, workgroup and local memory
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tmp: scratch u32[64]
buffer tile: workgroup u32[64]
buffer own: local u32[4]

tmp[gid.x] = 1u32
tile[lid.x] = 2u32
own[0] = 3u32
out[gid.x] = 4u32
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0

out[gid.x] = 4u32

// case: an effect in a store
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer tmp: scratch u32[64]

tmp[gid.x] = atomic_add(h[0], 1u32)
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[0], 1u32)

// case: one that is read
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tmp: scratch u32[64]

tmp[gid.x] = 1u32
out[gid.x] = tmp[gid.x]
// expect: unchanged

// case: the host's buffers stay
program workgroup(64, 1, 1)

buffer unused: read_write u32[64] @0
buffer out: read_write u32[64] @1

out[gid.x] = 1u32
// expect: unchanged
