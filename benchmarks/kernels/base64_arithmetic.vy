// One invocation per four characters; a character's six bits by arithmetic on its code.
program workgroup(256, 1, 1)

buffer text: read_only u8[] @0
buffer decoded: read_write u8[] @1

region "base64_arithmetic" {
    let g = gid.x
    if g < len(decoded) / 3 {
        let p = text[4 * g]
        let q = text[4 * g + 1]
        let r = text[4 * g + 2]
        let s = text[4 * g + 3]
        let p_letter = 69u8 * u8(p >= 65u8) + 6u8 * u8(p >= 97u8)
        let a = p + 4u8 - p_letter + 15u8 * u8(p == 43u8) + 12u8 * u8(p == 47u8)
        let q_letter = 69u8 * u8(q >= 65u8) + 6u8 * u8(q >= 97u8)
        let b = q + 4u8 - q_letter + 15u8 * u8(q == 43u8) + 12u8 * u8(q == 47u8)
        let r_letter = 69u8 * u8(r >= 65u8) + 6u8 * u8(r >= 97u8)
        let c = r + 4u8 - r_letter + 15u8 * u8(r == 43u8) + 12u8 * u8(r == 47u8)
        let s_letter = 69u8 * u8(s >= 65u8) + 6u8 * u8(s >= 97u8)
        let d = s + 4u8 - s_letter + 15u8 * u8(s == 43u8) + 12u8 * u8(s == 47u8)
        decoded[3 * g] = a << 2u8 | b >> 4u8
        decoded[3 * g + 1] = b << 4u8 | c >> 2u8
        decoded[3 * g + 2] = c << 6u8 | d
    }
}
