// test: opt downgrade_barriers
//
// Grid syncs that order nothing.

// case: different buffers on both sides
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer x: read_write u32[64] @1
buffer y: read_write u32[64] @2

x[gid.x] = a[gid.x]
barrier grid_sync
y[gid.x] = a[gid.x + 1u32]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer x: read_write u32[64] @1
buffer y: read_write u32[64] @2

x[gid.x] = a[gid.x]
y[gid.x] = a[gid.x + 1u32]

// case: a buffer is handed over
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = a[gid.x]
barrier grid_sync
out[63u32 - gid.x] = 2u32
// expect: unchanged

// case: handed over across another sync, judged whole
program workgroup(64, 1, 1)

buffer x: read_write u32[64] @0
buffer y: read_write u32[64] @1
buffer z: read_write u32[64] @2

x[gid.x] = 1u32
barrier grid_sync
y[gid.x] = 2u32
barrier grid_sync
z[gid.x] = x[63u32 - gid.x]
// expect: unchanged

// case: workgroup memory is cleared
program workgroup(64, 1, 1)

buffer x: read_write u32[64] @0
buffer tile: workgroup u32[64]

tile[lid.x] = 1u32
barrier grid_sync
tile[lid.x] = 2u32
x[gid.x] = tile[lid.x]
// expect: unchanged

// case: in a loop
program workgroup(64, 1, 1)

buffer x: read_write u32[64] @0

for i in 0u32..4u32 {
    x[gid.x] = i
    barrier grid_sync
}
// expect: unchanged
