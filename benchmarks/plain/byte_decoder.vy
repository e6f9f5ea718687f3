// Sixteen hexadecimal digits to a word, through a row of bytes as a general decoder keeps them.
program workgroup(64, 1, 1)

buffer text: read_only u8[] @0
buffer words: read_write u32[] @1
buffer digits: workgroup u8[1024]

region "byte_decoder" {
    for i in 0u32..4u32 {
        digits[lid.x * 16u32 + i * 4u32] = text[gid.x * 16u32 + i * 4u32] & 15u8
        digits[lid.x * 16u32 + i * 4u32 + 1u32] = text[gid.x * 16u32 + i * 4u32 + 1u32] & 15u8
        digits[lid.x * 16u32 + i * 4u32 + 2u32] = text[gid.x * 16u32 + i * 4u32 + 2u32] & 15u8
        digits[lid.x * 16u32 + i * 4u32 + 3u32] = text[gid.x * 16u32 + i * 4u32 + 3u32] & 15u8
    }
    barrier seq_cst
    if gid.x < len(words) {
        let word = 0u32
        for i in 0u32..4u32 {
            let first = u32(digits[lid.x * 16u32 + i * 4u32]) % 16u32
            let last = u32(digits[lid.x * 16u32 + i * 4u32 + 3u32]) % 16u32
            word = word << 8u32 | first << 4u32 | last
        }
        words[gid.x] = word
    }
}
