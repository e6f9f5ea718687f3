// test: check
//
// Async copies, grid syncs, collectives, indirect dispatch, traps.

// case: a pipelined copy
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer tile: workgroup u32[64]

async_load "next" tile[0] <- a[wid.x * 64u32], 64
for k in 0u32..4u32 {
    async_wait "next"
    out[gid.x] = tile[lid.x]
    barrier seq_cst
    async_load "next" tile[0] <- a[k * 64u32], 64
}
async_wait "next"

// case: tags without their counterpart
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer tile: workgroup u32[64]

async_wait "early"  //~ V311
async_load "early" tile[0] <- a[0], 64  //~ V312
async_load "never" tile[0] <- a[0], 64  //~ V312
trap "stop"
resume "stop"
resume "go"  //~ V015

// case: copies between the wrong buffers
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer f: read_only f32[] @1
buffer wo: write_only u32[] @2
buffer tile: workgroup u32[64]
buffer own: local u32[64]

async_load "t" tile[0] <- f[0], 64  //~ V314
async_load "t" tile[0] <- tile[0], 64  //~ V313
async_load "t" own[0] <- a[0], 64  //~ V313
async_load "t" tile[0] <- wo[0], 64  //~ V010
async_store "t" wo[0] <- tile[0], 64
async_store "t" a[0] <- tile[0], 64  //~ V011
async_store "t" nowhere[0] <- tile[1.0f32], 64  //~ V002 V104
async_load "t" tile[lid.x] <- a[0], 64  //~ V310
async_wait "t"

// case: copies in divergent flow
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer tile: workgroup u32[64]

if lid.x < 3u32 {
    async_load "t" tile[0] <- a[0], 64  //~ V304
    async_wait "t"  //~ V301
}

// case: grid syncs where they may stand
program workgroup(64, 1, 1)

buffer n: uniform u32[1] @0
buffer out: read_write u32[] @1

if gid.x >= len(out) {
    return
}
barrier grid_sync
{
    barrier grid_sync
}
region "inner" {
    for k in 0u32..n[0] {
        out[gid.x] = k
        let again = 0u32
        while again < 3u32 {
            barrier grid_sync
            again = again + 1u32
        }
    }
}

// case: the condition of a loop around a grid sync may ask memory at an index that all agree on
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer tile: workgroup u32[64]

while out[0] < 3u32 {
    barrier seq_cst
    barrier grid_sync
    eval atomic_add(out[0], 1u32)
    barrier grid_sync
}
while out[0] < 9u32 {
    barrier seq_cst  //~ V301
}
while tile[0] < 9u32 {  //~ V309
    barrier grid_sync  //~ V308
}

// case: grid syncs elsewhere
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if num_workgroups.x > 1u32 {
    barrier grid_sync  //~ V307
}
for k in 0u32..wid.x {
    barrier grid_sync  //~ V308
}
for k in 0u32..4u32 {
    if wid.x == k {
        break
    }
    barrier grid_sync  //~ V308
}
while out[gid.x] < 3u32 {
    barrier grid_sync  //~ V308
}
while atomic_add(out[0], 1u32) < 3u32 {
    barrier grid_sync  //~ V308
}
let flag = out[0]
while flag < 3u32 {
    barrier grid_sync  //~ V308
}

// case: workgroup memory does not survive a grid sync
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer tile: workgroup u32[64]
buffer sum: workgroup u32[1]

tile[lid.x] = 1u32
sum[0] = 0u32
barrier grid_sync
out[0] = tile[lid.x]  //~ V309
eval atomic_add(sum[0], 1u32)  //~ V309
tile[lid.x] = 2u32
out[1] = tile[lid.x]
for k in 0u32..4u32 {
    out[k] = tile[lid.x]  //~ V309
    barrier grid_sync
}
while out[0] < 3u32 {
    tile[lid.x] = 1u32
    out[1] = tile[lid.x]
}

// case: a round that writes after its grid sync gives the next one something to read
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer tile: workgroup u32[64]

tile[lid.x] = 1u32
for k in 0u32..4u32 {
    out[k] = tile[lid.x]
    barrier grid_sync
    tile[lid.x] = k
}

// case: a copy out of workgroup memory ends before a grid sync
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer tile: workgroup u32[64]

tile[lid.x] = gid.x
barrier seq_cst
async_store "late" out[wid.x * 64u32] <- tile[0], 64u32
async_store "soon" out[wid.x * 64u32] <- tile[0], 64u32
async_wait "soon"
barrier grid_sync
async_wait "late"  //~ V309

// case: collectives
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer f: read_write f32[] @1
buffer out: read_write u32[] @2
buffer tile: workgroup u32[64]

all_reduce add out
all_gather a -> out
reduce_scatter max a -> out
broadcast out from 0
all_reduce xor f  //~ V318
all_gather a -> f  //~ V318
all_gather out -> a  //~ V318
broadcast tile from 0  //~ V318
for k in 0u32..2u32 {
    all_reduce add out  //~ V317
}

// case: indirect dispatch stands first
program workgroup(64, 1, 1)

buffer counts: read_only u32[8] @0
buffer out: read_write u32[] @1

region "root" {
    indirect_dispatch counts[5]
    out[0] = 1u32
    indirect_dispatch counts[0]  //~ V315
}

// case: indirect dispatch needs a buffer of the host
program workgroup(64, 1, 1)

buffer counts: read_only u32[8] @0
buffer out: read_write u32[8] @1 output live_out

indirect_dispatch counts[6]  //~ V316
indirect_dispatch out[0]  //~ V315 V316

// case: opaque statements are kept, with a warning
program workgroup(64, 1, 1)

opaque some.extension hex"00" (gid.x + 1i32)  //~ V101 V319
