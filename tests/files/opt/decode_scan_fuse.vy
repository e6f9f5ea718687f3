// test: opt decode_scan_fuse
//
// Scratch between two stages.

// case: its own element
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
out[gid.x] = decoded[gid.x]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: workgroup u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
out[gid.x] = decoded[gid.x]

// case: the workgroup's tile, with a barrier
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
barrier seq_cst
out[gid.x] = decoded[wid.x * 64u32 + (63u32 - lid.x)]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: workgroup u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
barrier seq_cst
out[gid.x] = decoded[wid.x * 64u32 + (63u32 - lid.x)]

// case: the same without a barrier
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
out[gid.x] = decoded[wid.x * 64u32 + (63u32 - lid.x)]
// expect: unchanged

// case: the neighbour's tile
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[1024]

decoded[gid.x] = a[gid.x] * 3u32
barrier seq_cst
out[gid.x] = decoded[gid.x + 1u32]
// expect: unchanged

// case: a store that not everybody makes
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[1024]

if a[gid.x] > 5u32 {
    decoded[gid.x] = 1u32
}
barrier seq_cst
out[gid.x] = decoded[gid.x]
// expect: unchanged

// case: several elements each
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[256]

for k in 0u32..4u32 {
    decoded[k * 64u32 + lid.x] = a[k * 64u32 + lid.x]
}
barrier seq_cst
let sum = 0u32
for j in 0u32..256u32 {
    sum = sum + decoded[j]
}
out[gid.x] = sum
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: workgroup u32[256]

for k in 0..4 {
    decoded[k * 64u32 + lid.x] = a[k * 64u32 + lid.x]
}
barrier seq_cst
let sum = 0u32
for j in 0..256 {
    sum = sum + decoded[j]
}
out[gid.x] = sum

// case: atomics
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer decoded: scratch u32[64]

eval atomic_add(decoded[lid.x], 1u32)
out[gid.x] = decoded[lid.x]
// expect: unchanged

// case: more than workgroup memory holds
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer decoded: scratch u32[4096]
buffer tile: workgroup u32[1]

tile[0] = 1u32
decoded[gid.x] = tile[0]
out[gid.x] = decoded[gid.x]
// expect: unchanged

// case: several elements each, but some rounds may be left out
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[256]

for k in 0u32..4u32 {
    if a[0] == k {
        break
    }
    decoded[k * 64u32 + lid.x] = a[k * 64u32 + lid.x]
}
barrier seq_cst
out[gid.x] = decoded[255u32 - lid.x]
// expect: unchanged
