// f32 operations that WGSL leaves to the driver, and the narrow float formats.

// The float with these bits; a call keeps infinities and NaN out of compile-time evaluation.
fn f32_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits);
}

// x itself, in a way that no compiler sees through: WGSL lets drivers reassociate and contract.
// `zero` is the hidden one. A sum, as two exclusive ors would cancel.
fn f32_hide(x: f32, zero: vec2<u32>) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) + zero.x);
}

// The same in another way, for the right side of a difference, a quotient or a comparison: no compiler
// takes it for the value on the left, or for one that was added before.
fn f32_apart(x: f32, zero: vec2<u32>) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zero.y);
}

// By bits: a driver may assume that there are no NaN.
fn f32_is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn f32_is_inf(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

fn f32_is_finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

// Equality by bits, also of subnormals.
fn f32_same(a: f32, b: f32) -> bool {
    let x = bitcast<u32>(a);
    let y = bitcast<u32>(b);
    return (x == y && !f32_is_nan(a)) || ((x | y) & 0x7fffffffu) == 0u;
}

fn f32_neg(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

// A choice: put together with masks, numbers came out of llvmpipe as zero on a machine with AVX-512.
fn f32_copysign(x: f32, sign: f32) -> f32 {
    let bits = bitcast<u32>(x);
    return bitcast<f32>(select(bits & 0x7fffffffu, bits | 0x80000000u, (bitcast<u32>(sign) >> 31u) != 0u));
}

// An integer that orders floats, -0 below +0, and its own inverse on bits. Not for NaN.
fn f32_order(bits: i32) -> i32 {
    return bits ^ ((bits >> 31u) & 0x7fffffff);
}

// The lesser; the other one if one is NaN.
fn f32_min(a: f32, b: f32) -> f32 {
    let least = f32_order(min(f32_order(bitcast<i32>(a)), f32_order(bitcast<i32>(b))));
    return select(select(bitcast<f32>(least), a, f32_is_nan(b)), b, f32_is_nan(a));
}

// The greater; the other one if one is NaN.
fn f32_max(a: f32, b: f32) -> f32 {
    let most = f32_order(max(f32_order(bitcast<i32>(a)), f32_order(bitcast<i32>(b))));
    return select(select(bitcast<f32>(most), a, f32_is_nan(b)), b, f32_is_nan(a));
}

// The lesser; NaN if one is NaN.
fn f32_minimum(a: f32, b: f32) -> f32 {
    let least = f32_order(min(f32_order(bitcast<i32>(a)), f32_order(bitcast<i32>(b))));
    return select(select(bitcast<f32>(least), b, f32_is_nan(b)), a, f32_is_nan(a));
}

// The greater; NaN if one is NaN.
fn f32_maximum(a: f32, b: f32) -> f32 {
    let most = f32_order(max(f32_order(bitcast<i32>(a)), f32_order(bitcast<i32>(b))));
    return select(select(bitcast<f32>(most), b, f32_is_nan(b)), a, f32_is_nan(a));
}

// To the nearest integer, halves away from zero.
fn f32_round(x: f32) -> f32 {
    let whole = trunc(x);
    return f32_copysign(select(whole, whole + f32_copysign(1.0, x), abs(x - whole) >= 0.5), x);
}

// mantissa * 2^exponent rounded once to f32, ties to even. The mantissa is not zero; its lowest bit
// may stand for any lower ones.
fn f32_assemble(sign: u32, mantissa: vec2<u32>, exponent: i32) -> f32 {
    var result: f32;
    let lead = u64_clz(mantissa);
    var aligned = u64_shl(mantissa, lead);
    var biased = exponent - i32(lead) + 190;
    if (biased >= 255) {
        result = bitcast<f32>(sign | 0x7f800000u);
    } else {
        if (biased <= 0) {
            let shift = u32(min(1 - biased, 40));
            let lost = u64_shl(aligned, 64u - shift);
            aligned = u64_shr(aligned, shift) | vec2<u32>(select(0u, 1u, (lost.x | lost.y) != 0u), 0u);
            biased = 0;
        }
        let kept = aligned.y >> 8u;
        let rest = vec2<u32>(aligned.x, aligned.y & 0xffu);
        let up = rest.y > 0x80u || (rest.y == 0x80u && (rest.x != 0u || (kept & 1u) == 1u));
        // The leading one of a normal number carries into the exponent field by itself.
        let field = select(u32(biased - 1) << 23u, 0u, biased == 0);
        result = bitcast<f32>(sign | (field + kept + select(0u, 1u, up)));
    }
    return result;
}

// The integer significand of a finite number that is not zero, with its leading one at bit 23, and
// the exponent that goes with it.
fn f32_significand(bits: u32) -> vec2<u32> {
    var result: vec2<u32>;
    let fraction = bits & 0x7fffffu;
    let field = (bits >> 23u) & 0xffu;
    if (field == 0u) {
        let shift = countLeadingZeros(fraction) - 8u;
        result = vec2<u32>(fraction << shift, bitcast<u32>(-149 - i32(shift)));
    } else {
        result = vec2<u32>(fraction | 0x800000u, bitcast<u32>(i32(field) - 150));
    }
    return result;
}

// a * b + c rounded once, in integers: the built-in may round twice.
fn f32_fma(a: f32, b: f32, c: f32) -> f32 {
    var result: f32;
    let a_bits = bitcast<u32>(a);
    let b_bits = bitcast<u32>(b);
    let c_bits = bitcast<u32>(c);
    if (!f32_is_finite(a) || !f32_is_finite(b)) {
        result = a * b + c;
    } else if (!f32_is_finite(c)) {
        result = c;
    } else {
        let sign = (a_bits ^ b_bits) & 0x80000000u;
        if ((a_bits & 0x7fffffffu) == 0u || (b_bits & 0x7fffffffu) == 0u) {
            // Of two zeros the sum is -0 only if both are.
            result = select(bitcast<f32>(sign & c_bits), c, (c_bits & 0x7fffffffu) != 0u);
        } else {
            let left = f32_significand(a_bits);
            let right = f32_significand(b_bits);
            // 48 bits of product below bit 62; the addend gets its leading one at bit 61.
            var big = u64_shl(u32_mul_wide(left.x, right.x), 14u);
            var big_exponent = bitcast<i32>(left.y) + bitcast<i32>(right.y) - 14;
            if ((c_bits & 0x7fffffffu) == 0u) {
                result = f32_assemble(sign, big, big_exponent);
            } else {
                let addend = f32_significand(c_bits);
                var small = u64_shl(vec2<u32>(addend.x, 0u), 38u);
                var small_exponent = bitcast<i32>(addend.y) - 38;
                var big_sign = sign;
                var small_sign = c_bits & 0x80000000u;
                if (small_exponent > big_exponent) {
                    let swapped = big;
                    big = small;
                    small = swapped;
                    let exponent = big_exponent;
                    big_exponent = small_exponent;
                    small_exponent = exponent;
                    big_sign = small_sign;
                    small_sign = sign;
                }
                let distance = u32(min(big_exponent - small_exponent, 63));
                let shifted = u64_shr(small, distance);
                let back = u64_shl(shifted, distance);
                let sticky = vec2<u32>(select(0u, 1u, any(back != small)), 0u);
                small = shifted | sticky;
                if (big_sign == small_sign) {
                    result = f32_assemble(big_sign, u64_add(big, small), big_exponent);
                } else if (all(big == small)) {
                    result = 0.0;
                } else if (u64_lt(big, small)) {
                    result = f32_assemble(small_sign, u64_sub(small, big), big_exponent);
                } else {
                    result = f32_assemble(big_sign, u64_sub(big, small), big_exponent);
                }
            }
        }
    }
    return result;
}

// a / b correctly rounded, for devices whose division is not.
fn f32_div(a: f32, b: f32) -> f32 {
    var result: f32;
    let a_bits = bitcast<u32>(a);
    let b_bits = bitcast<u32>(b);
    let plain = (a_bits & 0x7fffffffu) == 0u || (b_bits & 0x7fffffffu) == 0u;
    if (plain || !f32_is_finite(a) || !f32_is_finite(b)) {
        result = a / b;
    } else {
        let left = f32_significand(a_bits);
        let right = f32_significand(b_bits);
        let dividend = u64_shl(vec2<u32>(left.x, 0u), 30u);
        let quotient = u64_quotient(dividend, vec2<u32>(right.x, 0u));
        let exact = all(u64_mul(quotient, vec2<u32>(right.x, 0u)) == dividend);
        let mantissa = u64_shl(quotient, 1u) | vec2<u32>(select(1u, 0u, exact), 0u);
        let exponent = bitcast<i32>(left.y) - bitcast<i32>(right.y) - 31;
        result = f32_assemble((a_bits ^ b_bits) & 0x80000000u, mantissa, exponent);
    }
    return result;
}

// The square root correctly rounded, for devices whose own is not.
fn f32_sqrt(x: f32) -> f32 {
    var result: f32;
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) == 0u || !f32_is_finite(x) || (bits >> 31u) == 1u) {
        result = sqrt(x);
    } else {
        let parts = f32_significand(bits);
        let shift = 38u - (parts.y & 1u);
        // The root of a number between 2^60 and 2^62 is a 31-bit integer, found bit by bit.
        let square = u64_shl(vec2<u32>(parts.x, 0u), shift);
        var root = 0u;
        for (var bit = 0x40000000u; bit != 0u; bit >>= 1u) {
            let trial = root | bit;
            if (!u64_lt(square, u32_mul_wide(trial, trial))) {
                root = trial;
            }
        }
        let exact = all(u32_mul_wide(root, root) == square);
        let mantissa = u64_shl(vec2<u32>(root, 0u), 1u) | vec2<u32>(select(1u, 0u, exact), 0u);
        result = f32_assemble(0u, mantissa, (bitcast<i32>(parts.y) - i32(shift)) / 2 - 1);
    }
    return result;
}

// f16 from its bits.
fn f32_from_f16(half: u32) -> f32 {
    let sign = (half & 0x8000u) << 16u;
    let field = (half >> 10u) & 0x1fu;
    let fraction = half & 0x3ffu;
    let normal = (select(field + 112u, 255u, field == 31u) << 23u) | (fraction << 13u);
    // fraction * 2^-24 is exact and normal in f32.
    let small = bitcast<u32>(f32(fraction) * 5.9604644775390625e-8);
    return bitcast<f32>(sign | select(normal, small, field == 0u));
}

// The bits of the nearest f16, ties to even.
fn f16_from_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let normal = (size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u;
    let mantissa = (size & 0x7fffffu) | 0x800000u;
    let shift = clamp(126u - (size >> 23u), 1u, 31u);
    let half = (1u << (shift - 1u)) - 1u;
    let small = (mantissa + half + ((mantissa >> shift) & 1u)) >> shift;
    let payload = (size >> 13u) & 0x3ffu;
    let nan = 0x7c00u | select(payload, 0x200u, payload == 0u);
    var found = select(normal, small, size < 0x38800000u);
    found = select(found, 0u, size < 0x33000000u);
    found = select(found, 0x7c00u, size >= 0x477ff000u);
    found = select(found, nan, size > 0x7f800000u);
    return ((bits >> 16u) & 0x8000u) | found;
}

// The f16 nearest to x, as f32: f16 values are held so.
fn f16_round(x: f32) -> f32 {
    return f32_from_f16(f16_from_f32(x));
}

// a * b + c of three f16 values, rounded once to f16.
fn f16_fma(a: f32, b: f32, c: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    // The product is exact. The sum is rounded to odd, so that rounding it again to f16 is right.
    let product = a * b;
    let sum = f32_hide(product + c, zero);
    let part = f32_hide(sum - product, zero);
    let error = (product - f32_hide(sum - part, zero)) + (c - part);
    let bits = bitcast<u32>(sum);
    if (f32_is_finite(sum) && error != 0.0 && (bits & 1u) == 0u) {
        let outward = (error > 0.0) == (sum > 0.0);
        result = f16_round(bitcast<f32>(select(bits - 1u, bits + 1u, outward)));
    } else {
        result = f16_round(sum);
    }
    return result;
}

fn f32_from_bf16(half: u32) -> f32 {
    return bitcast<f32>(half << 16u);
}

// The bits of the nearest bf16, ties to even.
fn bf16_from_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let nearest = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    let nan = (bits >> 16u) | select(0u, 0x40u, (bits & 0x7f0000u) == 0u);
    return select(nearest, nan, f32_is_nan(x));
}

fn bf16_round(x: f32) -> f32 {
    return f32_from_bf16(bf16_from_f32(x));
}

// The nearest bf16 to an integer, ties to even: rounding to f32 in between would round twice.
fn bf16_from_u64(a: vec2<u32>) -> f32 {
    var result: f32;
    if (a.y == 0u && a.x < 0x1000000u) {
        result = bf16_round(f32(a.x));
    } else {
        let lead = u64_clz(a);
        let aligned = u64_shl(a, lead);
        let kept = aligned.y >> 24u;
        let rest = vec2<u32>(aligned.x, aligned.y & 0xffffffu);
        let up = rest.y > 0x800000u || (rest.y == 0x800000u && (rest.x != 0u || (kept & 1u) == 1u));
        result = bitcast<f32>(((189u - lead) << 23u) + ((kept + select(0u, 1u, up)) << 16u));
    }
    return result;
}

fn bf16_from_i64(a: vec2<u32>) -> f32 {
    let magnitude = bf16_from_u64(i64_abs(a));
    return select(magnitude, -magnitude, (a.y >> 31u) == 1u);
}
