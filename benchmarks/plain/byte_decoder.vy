// Four hexadecimal digits to a word, through a row of bytes as a general decoder keeps them.
program workgroup(64, 1, 1)

buffer text: read_only u8[] @0
buffer words: read_write u32[] @1
buffer digits: local u8[16]

region "byte_decoder" {
    if gid.x < len(words) {
        for i in 0u32..4u32 {
            digits[i * 4u32] = text[gid.x * 16u32 + i * 4u32] & 15u8
            digits[i * 4u32 + 1u32] = text[gid.x * 16u32 + i * 4u32 + 1u32] & 15u8
            digits[i * 4u32 + 2u32] = text[gid.x * 16u32 + i * 4u32 + 2u32] & 15u8
            digits[i * 4u32 + 3u32] = text[gid.x * 16u32 + i * 4u32 + 3u32] & 15u8
        }
        let word = 0u32
        for i in 0u32..16u32 {
            word = word << 2u32 | u32(digits[i]) % 16u32
        }
        words[gid.x] = word
    }
}
