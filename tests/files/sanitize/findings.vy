// test: sanitize
//
// Each kind of defect the sanitizer reports, and beside it the correct program on which it is silent.

// case: two invocations of a workgroup touch an element without a barrier
// given: out = 0*64
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tile: workgroup u32[64]

tile[lid.x] = lid.x
out[gid.x] = tile[63u32 - lid.x]  //~ X101
// expect:
error[X101]: tile[63] is written by invocation (63, 0, 0) and read by invocation (0, 0, 0), and nothing orders the two (64 times in this run)
  --> <text>:7:1 (entry[1])
  7 | out[gid.x] = tile[63u32 - lid.x]
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  also <text>:6:1 (entry[0])
  6 | tile[lid.x] = lid.x
    | ^^^^^^^^^^^^^^^^^^^
  fix: put a barrier between the two, or use atomics for both

// case: a barrier orders them
// given: out = 0*64
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tile: workgroup u32[64]

tile[lid.x] = lid.x
barrier seq_cst
out[gid.x] = tile[63u32 - lid.x]

// case: two workgroups write an element
// given: out = 0*4
// given: grid = 2
program workgroup(4, 1, 1)

buffer out: read_write u32[4] @0

out[lid.x] = wid.x  //~ X101

// case: atomics may meet
// given: out = 0
// given: grid = 2
program workgroup(4, 1, 1)

buffer out: read_write u32[1] @0

eval atomic_add(out[0u32], 1u32)

// case: a barrier some invocations do not reach
// given: a = 0..8
// given: out = 0*8
program workgroup(8, 1, 1)

buffer a: read_only u32[8] @0
buffer out: read_write u32[8] @1

if a[lid.x] < 7u32 {
    barrier seq_cst  //~ X102
}

// case: a store past the end
// given: out = 0*4
program workgroup(4, 1, 1)

buffer out: read_write u32[4] @0

out[gid.x + 1u32] = 1u32  //~ X103

// case: a load past the end
// given: a = 1 2 3
// given: out = 0*4
program workgroup(4, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[4] @1

out[gid.x] = a[gid.x]  //~ X103

// case: a guarded load
// given: a = 1 2 3
// given: out = 0*4
program workgroup(4, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[4] @1

if gid.x < len(a) {
    out[gid.x] = a[gid.x]
}

// case: workgroup memory read before it is written
// given: out = 0*4
program workgroup(4, 1, 1)

buffer out: read_write u32[4] @0
buffer tile: workgroup u32[4]

out[gid.x] = tile[lid.x]  //~ X104

// case: an integer divided by zero
// given: out = 0*4
program workgroup(4, 1, 1)

buffer out: read_write u32[4] @0

out[gid.x] = 100u32 / gid.x  //~ X105

// case: one invocation is a whole workgroup, and its copies come after what it stored
// given: out = 0*2
// given: grid = 2 1 1
program workgroup(1, 1, 1)

buffer out: read_write u32[2] @0
buffer tile: workgroup u32[1]

tile[0] = gid.x + 1u32
async_store "t" out[wid.x] <- tile[0], 1u32
async_wait "t"
tile[0] = 5u32

// case: a grid sync takes away the memory that a copy is still filling
// given: table = 0..8
// given: out = 0*8
// given: grid = 2 1 1
program workgroup(4, 1, 1)

buffer table: read_only u32[8] @1
buffer out: read_write u32[8] @0
buffer tile: workgroup u32[4]

async_load "t" tile[0] <- table[0], 4u32
out[gid.x] = 1u32
barrier grid_sync
barrier acq_rel
async_wait "t"
out[gid.x] = out[7u32 - gid.x] + 1u32  //~ X101
