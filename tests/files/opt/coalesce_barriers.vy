// test: opt coalesce_barriers
//
// Barriers with nothing to order between them.

// case: two in a row
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier acquire
let x = gid.x * 3u32
barrier release
out[63u32 - lid.x] = x
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier acq_rel
let x = gid.x * 3u32
out[63u32 - lid.x] = x

// case: an access in between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier seq_cst
let x = out[5]
barrier seq_cst
out[lid.x] = x
// expect: unchanged

// case: at the end
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier seq_cst
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32

// case: before a wait
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer tile: workgroup u32[64]

async_load "t" tile[0] <- a[0], 64
barrier seq_cst
async_wait "t"
out[lid.x] = tile[63u32 - lid.x]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer tile: workgroup u32[64]

async_load "t" tile[0] <- a[0], 64
async_wait "t"
out[lid.x] = tile[63u32 - lid.x]

// case: a workgroup of one
program workgroup(1, 1, 1)

buffer out: read_write u32[64] @0

out[0] = 1u32
barrier seq_cst
out[1] = out[0]
// expect:
program workgroup(1, 1, 1)

buffer out: read_write u32[64] @0

out[0] = 1u32
out[1] = out[0]

// case: a grid sync swallows a barrier
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier seq_cst
barrier grid_sync
out[63u32 - lid.x] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = 1u32
barrier grid_sync
out[63u32 - lid.x] = 2u32
