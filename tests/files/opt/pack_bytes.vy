// test: opt pack_bytes
//
// Bytes written four at a time.

// case: a local array
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u8[16]

for i in 0u32..4u32 {
    own[i * 4u32] = u8(i)
    own[i * 4u32 + 1u32] = u8(i + 1u32)
    own[i * 4u32 + 2u32] = u8(i + 2u32)
    own[i * 4u32 + 3u32] = u8(i + 3u32)
}
out[gid.x] = u32(own[gid.x])
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u32[4]

for i in 0..4 {
    own[(i * 4u32) >> 2u32] = u32(u8(i)) | (u32(u8(i + 1u32)) << 8u32) | (u32(u8(i + 2u32)) << 16u32) | (u32(u8(i + 3u32)) << 24u32)
}
out[gid.x] = u32(u8(own[gid.x >> 2u32] >> (u32(gid.x & 3u32) << 3u32)))

// case: a single byte is written
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u8[16]

own[3] = 5u8
out[gid.x] = u32(own[gid.x])
// expect: unchanged

// case: not aligned
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer own: local u8[16]

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
