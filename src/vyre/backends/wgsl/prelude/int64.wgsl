// 64-bit integers as vec2<u32>: x holds the low half, y the high half.
// Signed and unsigned values share the representation; functions differ only where the sign matters.

fn u64_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn u64_sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn u64_neg(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(0u - a.x, ~a.y + select(0u, 1u, a.x == 0u));
}

// The full product of two 32-bit values, from four products of 16-bit digits.
fn u32_mul_wide(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
    return vec2<u32>(a * b, high);
}

fn u32_mulhi(a: u32, b: u32) -> u32 {
    return u32_mul_wide(a, b).y;
}

fn i32_mulhi(a: i32, b: i32) -> i32 {
    let high = u32_mulhi(bitcast<u32>(a), bitcast<u32>(b));
    return bitcast<i32>(high) - select(0, b, a < 0) - select(0, a, b < 0);
}

fn u64_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = u32_mul_wide(a.x, b.x);
    return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
}

// The product with a number below 2^16.
fn u64_mul_short(a: vec2<u32>, b: u32) -> vec2<u32> {
    let low = (a.x & 0xffffu) * b;
    let carried = ((a.x >> 16u) * b + (low >> 16u)) >> 16u;
    return vec2<u32>(a.x * b, a.y * b + carried);
}

fn u64_mulhi(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = u32_mul_wide(a.x, b.x).y;
    let first = u64_add(u32_mul_wide(a.y, b.x), vec2<u32>(low, 0u));
    let second = u64_add(u32_mul_wide(a.x, b.y), vec2<u32>(first.x, 0u));
    return u64_add(u32_mul_wide(a.y, b.y), u64_add(vec2<u32>(first.y, 0u), vec2<u32>(second.y, 0u)));
}

fn i64_mulhi(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let zero = vec2<u32>(0u, 0u);
    let high = u64_sub(u64_mulhi(a, b), select(zero, b, (a.y >> 31u) == 1u));
    return u64_sub(high, select(zero, a, (b.y >> 31u) == 1u));
}

// Shift amounts are taken modulo 64.
fn u64_shl(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let n = amount & 31u;
    let low = a.x << n;
    let high = (a.y << n) | ((a.x >> 1u) >> (31u - n));
    return select(vec2<u32>(low, high), vec2<u32>(0u, low), (amount & 32u) != 0u);
}

fn u64_shr(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let n = amount & 31u;
    let low = (a.x >> n) | ((a.y << 1u) << (31u - n));
    let high = a.y >> n;
    return select(vec2<u32>(low, high), vec2<u32>(high, 0u), (amount & 32u) != 0u);
}

fn i64_shr(a: vec2<u32>, amount: u32) -> vec2<u32> {
    let n = amount & 31u;
    let low = (a.x >> n) | ((a.y << 1u) << (31u - n));
    let high = bitcast<u32>(bitcast<i32>(a.y) >> n);
    let sign = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
    return select(vec2<u32>(low, high), vec2<u32>(high, sign), (amount & 32u) != 0u);
}

// Shifts by 1 to 31.
fn u64_shl_short(a: vec2<u32>, n: u32) -> vec2<u32> {
    return vec2<u32>(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}

fn u64_shr_short(a: vec2<u32>, n: u32) -> vec2<u32> {
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}

fn i64_shr_short(a: vec2<u32>, n: u32) -> vec2<u32> {
    let high = bitcast<u32>(bitcast<i32>(a.y) >> n);
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), high);
}

fn u64_rotl(a: vec2<u32>, amount: u32) -> vec2<u32> {
    return u64_shl(a, amount) | select(vec2<u32>(0u, 0u), u64_shr(a, 0u - amount), (amount & 63u) != 0u);
}

fn u64_rotr(a: vec2<u32>, amount: u32) -> vec2<u32> {
    return u64_rotl(a, 0u - amount);
}

fn u64_lt(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn i64_lt(a: vec2<u32>, b: vec2<u32>) -> bool {
    return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}

fn u64_min(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, u64_lt(b, a));
}

fn u64_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, u64_lt(a, b));
}

fn i64_min(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, i64_lt(b, a));
}

fn i64_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, i64_lt(a, b));
}

fn i64_abs(a: vec2<u32>) -> vec2<u32> {
    return select(a, u64_neg(a), (a.y >> 31u) == 1u);
}

fn u64_clz(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

fn u64_ctz(a: vec2<u32>) -> u32 {
    return select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u);
}

fn u64_popcount(a: vec2<u32>) -> u32 {
    return countOneBits(a.x) + countOneBits(a.y);
}

fn u64_reverse_bits(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(reverseBits(a.y), reverseBits(a.x));
}

fn u64_byte_swap(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(u32_byte_swap(a.y), u32_byte_swap(a.x));
}

// Quotient and remainder of high:low by divisor, two 16-bit digits at a time (Knuth's algorithm D).
// The divisor's top bit is set and high < divisor, so the quotient fits in 32 bits.
fn u64_div_normalised(high: u32, low: u32, divisor: u32) -> vec2<u32> {
    let d1 = divisor >> 16u;
    let d0 = divisor & 0xffffu;
    var q1 = high / d1;
    var r1 = high - q1 * d1;
    for (var k = 0u; k < 2u; k++) {
        if (r1 < 0x10000u && (q1 >= 0x10000u || q1 * d0 > ((r1 << 16u) | (low >> 16u)))) {
            q1 -= 1u;
            r1 += d1;
        }
    }
    let middle = ((high << 16u) | (low >> 16u)) - q1 * divisor;
    var q0 = middle / d1;
    var r0 = middle - q0 * d1;
    for (var k = 0u; k < 2u; k++) {
        if (r0 < 0x10000u && (q0 >= 0x10000u || q0 * d0 > ((r0 << 16u) | (low & 0xffffu)))) {
            q0 -= 1u;
            r0 += d1;
        }
    }
    let rest = ((middle << 16u) | (low & 0xffffu)) - q0 * divisor;
    return vec2<u32>((q1 << 16u) + q0, rest);
}

// a / b for b != 0.
fn u64_quotient(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    var result: vec2<u32>;
    if (a.y == 0u && b.y == 0u) {
        result = vec2<u32>(a.x / b.x, 0u);
    } else {
        let shift = countLeadingZeros(select(b.y, b.x, b.y == 0u));
        if (b.y == 0u) {
            let divisor = b.x << shift;
            let high = a.y / b.x;
            let dividend = u64_shl(vec2<u32>(a.x, a.y - high * b.x), shift);
            result = vec2<u32>(u64_div_normalised(dividend.y, dividend.x, divisor).x, high);
        } else {
            let half = u64_shr(a, 1u);
            let estimate = u64_div_normalised(half.y, half.x, u64_shl(b, shift).y).x;
            var q = (estimate >> 1u) >> (30u - min(shift, 30u));
            if (shift == 31u) {
                q = estimate;
            }
            if (q != 0u) {
                q -= 1u;
            }
            let rest = u64_sub(a, u64_mul(vec2<u32>(q, 0u), b));
            result = vec2<u32>(select(q + 1u, q, u64_lt(rest, b)), 0u);
        }
    }
    return result;
}

fn u64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let divisor = select(b, vec2<u32>(1u, 0u), (b.x | b.y) == 0u);
    return select(u64_quotient(a, divisor), vec2<u32>(0xffffffffu), (b.x | b.y) == 0u);
}

fn u64_rem(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    // Dividing by 1 instead leaves the remainder 0.
    let divisor = select(b, vec2<u32>(1u, 0u), (b.x | b.y) == 0u);
    return u64_sub(a, u64_mul(u64_quotient(a, divisor), divisor));
}

fn i64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let divisor = select(i64_abs(b), vec2<u32>(1u, 0u), (b.x | b.y) == 0u);
    let magnitude = u64_quotient(i64_abs(a), divisor);
    let quotient = select(magnitude, u64_neg(magnitude), ((a.y ^ b.y) >> 31u) == 1u);
    return select(quotient, vec2<u32>(0xffffffffu), (b.x | b.y) == 0u);
}

fn i64_rem(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let magnitude = u64_rem(i64_abs(a), i64_abs(b));
    return select(magnitude, u64_neg(magnitude), (a.y >> 31u) == 1u);
}

fn u64_add_sat(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sum = u64_add(a, b);
    return select(sum, vec2<u32>(0xffffffffu, 0xffffffffu), u64_lt(sum, a));
}

fn u64_sub_sat(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(u64_sub(a, b), vec2<u32>(0u, 0u), u64_lt(a, b));
}

fn i64_add_sat(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sum = u64_add(a, b);
    let overflow = (((a.y ^ sum.y) & (b.y ^ sum.y)) >> 31u) == 1u;
    return select(sum, i64_limit(a), overflow);
}

fn i64_sub_sat(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let difference = u64_sub(a, b);
    let overflow = (((a.y ^ b.y) & (a.y ^ difference.y)) >> 31u) == 1u;
    return select(difference, i64_limit(a), overflow);
}

// The 64-bit value farthest from zero on the side of a's sign.
fn i64_limit(a: vec2<u32>) -> vec2<u32> {
    return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), (a.y >> 31u) == 1u);
}

// To the nearest f32, ties to even.
fn f32_from_u64(a: vec2<u32>) -> f32 {
    let lead = u64_clz(a);
    let aligned = u64_shl(a, lead);
    let mantissa = aligned.y >> 8u;
    let rest = vec2<u32>(aligned.x, aligned.y & 0xffu);
    let above = rest.y > 0x80u || (rest.y == 0x80u && (rest.x != 0u || (mantissa & 1u) == 1u));
    // Adding the mantissa with its leading one carries into the exponent on its own.
    let bits = ((189u - lead) << 23u) + mantissa + select(0u, 1u, above);
    return bitcast<f32>(select(bits, 0u, (a.x | a.y) == 0u));
}

fn f32_from_i64(a: vec2<u32>) -> f32 {
    let magnitude = f32_from_u64(i64_abs(a));
    return select(magnitude, -magnitude, (a.y >> 31u) == 1u);
}

// Toward zero, saturating; NaN gives 0.
fn u64_from_f32(x: f32) -> vec2<u32> {
    let bits = bitcast<u32>(x);
    let mantissa = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
    let exponent = bits >> 23u;
    let shifted = select(u64_shr(mantissa, 150u - exponent), u64_shl(mantissa, exponent - 150u), exponent >= 150u);
    // As integers, the bits of numbers from 1 up to 2^64 lie between these two.
    let inside = select(vec2<u32>(), shifted, bits >= 0x3f800000u && bits < 0x5f800000u);
    return select(inside, vec2<u32>(0xffffffffu), bits >= 0x5f800000u && bits <= 0x7f800000u);
}

fn i64_from_f32(x: f32) -> vec2<u32> {
    let magnitude = u64_from_f32(abs(x));
    let inside = select(magnitude, u64_neg(magnitude), bitcast<i32>(x) < 0);
    return select(inside, i64_limit(vec2<u32>(0u, bitcast<u32>(x))), magnitude.y >= 0x80000000u);
}

fn i64_from_i32(a: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(a), bitcast<u32>(a >> 31u));
}

// A 64-bit index as u32; one too large, or negative, becomes one that is out of every bounds.
fn u64_index(a: vec2<u32>) -> u32 {
    return select(0xffffffffu, a.x, a.y == 0u);
}
