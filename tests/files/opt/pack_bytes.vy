// test: opt pack_bytes
//
// Bytes written four at a time.

// case: workgroup memory
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer row: workgroup u8[1024]

for i in 0u32..4u32 {
    row[lid.x * 16u32 + i * 4u32] = u8(i)
    row[lid.x * 16u32 + i * 4u32 + 1u32] = u8(i + 1u32)
    row[lid.x * 16u32 + i * 4u32 + 2u32] = u8(i + 2u32)
    row[lid.x * 16u32 + i * 4u32 + 3u32] = u8(i + 3u32)
}
barrier seq_cst
out[gid.x] = u32(row[gid.x])
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer row: workgroup u32[256]

for i in 0..4 {
    row[(lid.x * 16u32 + i * 4u32) >> 2u32] = u32(u8(i)) | (u32(u8(i + 1u32)) << 8u32) | (u32(u8(i + 2u32)) << 16u32) | (u32(u8(i + 3u32)) << 24u32)
}
barrier seq_cst
out[gid.x] = u32(u8(row[gid.x >> 2u32] >> (u32(gid.x & 3u32) << 3u32)))

// case: bytes of one word are taken out of the same load
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer row: workgroup u8[256]

row[lid.x * 4u32] = 1u8
row[lid.x * 4u32 + 1u32] = 2u8
row[lid.x * 4u32 + 2u32] = 3u8
row[lid.x * 4u32 + 3u32] = 4u8
barrier seq_cst
out[gid.x] = u32(row[lid.x * 4u32]) + u32(row[lid.x * 4u32 + 3u32]) + u32(row[lid.x * 4u32 + 6u32]) + u32(row[7])
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer row: workgroup u32[64]

row[(lid.x * 4u32) >> 2u32] = u32(1u8) | (u32(2u8) << 8u32) | (u32(3u8) << 16u32) | (u32(4u8) << 24u32)
barrier seq_cst
out[gid.x] = u32(u8(row[(lid.x * 4u32) >> 2u32])) + u32(u8(row[(lid.x * 4u32) >> 2u32] >> 24u32)) + u32(u8(row[(lid.x * 4u32 + 4u32) >> 2u32] >> 16u32)) + u32(u8(row[4u32 >> 2u32] >> 24u32))

// case: what is an invocation's own stays
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u8[4]

own[0] = 1u8
own[1] = 2u8
own[2] = 3u8
own[3] = 4u8
out[gid.x] = u32(own[gid.x])
// expect: unchanged

// case: a single byte is written
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: workgroup u8[16]

own[3] = 5u8
out[gid.x] = u32(own[gid.x])
// expect: unchanged

// case: not aligned
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: workgroup u8[16]

own[1] = 5u8
own[2] = 5u8
own[3] = 5u8
own[4] = 5u8
out[gid.x] = u32(own[gid.x])
// expect: unchanged

// case: the host's bytes stay
program workgroup(64, 1, 1)

buffer out: read_write u8[16] @0

out[0] = 5u8
out[1] = 5u8
out[2] = 5u8
out[3] = 5u8
// expect: unchanged
