// Transcendental functions of f32 within a few units in the last place. WGSL's own may be off by
// thousands, and differ from device to device. A pair (vec2<f32>) is an unevaluated sum x + y.

const PI: f32 = 3.14159274;

fn f32_pow2(exponent: i32) -> f32 {
    return bitcast<f32>(u32(exponent + 127) << 23u);
}

// x * 2^exponent, in two steps so that neither factor leaves the range.
fn f32_scale(x: f32, exponent: i32) -> f32 {
    let half = exponent >> 1u;
    return x * f32_pow2(half) * f32_pow2(exponent - half);
}

// The upper twelve bits of x: products of two such numbers are exact.
fn f32_upper(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// Drivers that reassociate would take the error of a sum for zero, hence the hiding.
fn pair_sum(a: f32, b: f32, zero: vec2<u32>) -> vec2<f32> {
    let sum = f32_hide(a + b, zero);
    let part = f32_hide(sum - a, zero);
    return vec2<f32>(sum, (a - f32_hide(sum - part, zero)) + (b - part));
}

// As pair_sum where |a| >= |b|.
fn pair_fast_sum(a: f32, b: f32, zero: vec2<u32>) -> vec2<f32> {
    let sum = f32_hide(a + b, zero);
    return vec2<f32>(sum, b - f32_hide(sum - a, zero));
}

fn pair_product(a: vec2<f32>, b: vec2<f32>, zero: vec2<u32>) -> vec2<f32> {
    let a1 = f32_upper(a.x);
    let b1 = f32_upper(b.x);
    let a0 = f32_hide(a.x - a1, zero) + a.y;
    let b0 = f32_hide(b.x - b1, zero) + b.y;
    let middle = f32_hide(a1 * b0, zero) + f32_hide(a0 * b1, zero);
    let upper = pair_fast_sum(f32_hide(a1 * b1, zero), middle, zero);
    return pair_fast_sum(upper.x, upper.y + a0 * b0, zero);
}

fn pair_add(a: vec2<f32>, b: vec2<f32>, zero: vec2<u32>) -> vec2<f32> {
    let sum = pair_sum(a.x, b.x, zero);
    return pair_fast_sum(sum.x, sum.y + (a.y + b.y), zero);
}

// e^r for |r| <= 0.35.
fn f32_exp_reduced(r: f32) -> f32 {
    let q = 0.49999994 + r * (0.166665211 + r * (0.041668389 + r * (0.00836871006 + r * 0.00138146104)));
    return 1.0 + (r + r * r * q);
}

// e^x * 2^exponent without overflowing early. x is not NaN.
fn f32_exp_scaled(x: f32, exponent: i32, zero: vec2<u32>) -> f32 {
    let limited = clamp(x, -105.0, 90.0);
    let k = round(limited * 1.44269502);
    let r = f32_hide(limited - k * 0.693145752, zero) - k * 1.42860677e-6;
    return f32_scale(f32_exp_reduced(r), i32(k) + exponent);
}

fn f32_exp(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x)) {
        result = x;
    } else {
        result = f32_exp_scaled(x, 0, zero);
    }
    return result;
}

// 2^r for |r| <= 0.5.
fn f32_exp2_reduced(r: f32) -> f32 {
    let upper = 0.00961803831 + r * (0.00133339351 + r * (0.000154667563 + r * 1.5196154e-5));
    return 1.0 + r * (0.693147182 + r * (0.240226507 + r * (0.0555041023 + r * upper)));
}

fn f32_exp2(x: f32) -> f32 {
    var result: f32;
    if (f32_is_nan(x)) {
        result = x;
    } else {
        let limited = clamp(x, -151.0, 129.0);
        let k = round(limited);
        result = f32_scale(f32_exp2_reduced(limited - k), i32(k));
    }
    return result;
}

fn f32_expm1(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x) || abs(x) < 1e-8) {
        result = x;
    } else {
        let limited = clamp(x, -20.0, 89.0);
        let k = round(limited * 1.44269502);
        let r = f32_hide(limited - k * 0.693145752, zero) - k * 1.42860677e-6;
        let upper = 0.041666355 + r * (0.00833327416 + r * (0.00139409734 + r * 0.000199135262));
        let part = r + r * r * (0.5 + r * (0.166666672 + r * upper));
        if (k == 0.0) {
            result = part;
        } else if (k > 24.0) {
            result = f32_scale(1.0 + part, i32(k));
        } else {
            let scale = f32_pow2(i32(k));
            result = scale * part + (scale - 1.0);
        }
    }
    return result;
}

// ln(1 + f) as a pair, for -0.3 < f < 0.42, from the series of artanh at s = f / (2 + f).
fn f32_log_reduced(f: f32, zero: vec2<u32>) -> vec2<f32> {
    let divisor = pair_sum(2.0, f, zero);
    let s1 = f32_upper(f / divisor.x);
    let d1 = f32_upper(divisor.x);
    let d0 = (divisor.x - d1) + divisor.y;
    let s = pair_fast_sum(s1, ((f - s1 * d1) - s1 * d0) / divisor.x, zero);
    let z = pair_product(s, s, zero);
    let tail = z.x * (0.199999988 + z.x * (0.142859414 + z.x * (0.110922948 + z.x * 0.0973763764)));
    let third = pair_fast_sum(0.333333343, -9.93410776e-9 + tail, zero);
    let rest = pair_product(s, pair_product(z, third, zero), zero);
    let half = pair_add(s, rest, zero);
    return 2.0 * half;
}

// The exponent k and f with x = 2^k (1 + f), for finite x > 0.
fn f32_log_parts(x: f32) -> vec2<f32> {
    let parts = f32_significand(bitcast<u32>(x));
    let high = parts.x >= 0xb504f3u;
    let mantissa = bitcast<f32>((parts.x & 0x7fffffu) | select(0x3f800000u, 0x3f000000u, high));
    return vec2<f32>(f32(bitcast<i32>(parts.y) + select(23, 24, high)), mantissa - 1.0);
}

// What any logarithm gives where the argument is not a finite positive number.
fn f32_log_special(x: f32) -> f32 {
    var result: f32;
    if (f32_is_nan(x)) {
        result = x;
    } else if ((bitcast<u32>(x) & 0x7fffffffu) == 0u) {
        result = f32_bits(0xff800000u);
    } else {
        result = select(x, f32_bits(0x7fc00000u), bitcast<i32>(x) < 0);
    }
    return result;
}

fn f32_log_is_special(x: f32) -> bool {
    let bits = bitcast<u32>(x);
    return bits == 0u || bits >= 0x7f800000u;
}

fn f32_log(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_log_is_special(x)) {
        result = f32_log_special(x);
    } else {
        let parts = f32_log_parts(x);
        let log = f32_log_reduced(parts.y, zero);
        let sum = pair_sum(parts.x * 0.693145752, log.x, zero);
        result = sum.x + (sum.y + (log.y + parts.x * 1.42860677e-6));
    }
    return result;
}

// log2(x) as a pair, for finite x > 0.
fn f32_log2_pair(x: f32, zero: vec2<u32>) -> vec2<f32> {
    let parts = f32_log_parts(x);
    let log = pair_product(f32_log_reduced(parts.y, zero), vec2<f32>(1.44269502, 1.92596299e-8), zero);
    return pair_add(vec2<f32>(parts.x, 0.0), log, zero);
}

fn f32_log2(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_log_is_special(x)) {
        result = f32_log_special(x);
    } else {
        result = f32_log2_pair(x, zero).x;
    }
    return result;
}

fn f32_log10(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_log_is_special(x)) {
        result = f32_log_special(x);
    } else {
        result = pair_product(f32_log2_pair(x, zero), vec2<f32>(0.30103001, -1.43208298e-8), zero).x;
    }
    return result;
}

fn f32_log1p(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x) || abs(x) < 1e-8) {
        result = x;
    } else if (x > -0.29 && x < 0.41) {
        let log = f32_log_reduced(x, zero);
        result = log.x + log.y;
    } else {
        let sum = pair_sum(1.0, x, zero);
        if (f32_log_is_special(sum.x)) {
            result = f32_log_special(sum.x);
        } else {
            let parts = f32_log_parts(sum.x);
            let log = f32_log_reduced(parts.y, zero);
            let low = log.y + parts.x * 1.42860677e-6 + sum.y / sum.x;
            let total = pair_sum(parts.x * 0.693145752, log.x, zero);
            result = total.x + (total.y + low);
        }
    }
    return result;
}

// x to the power of y, with the special cases of IEEE 754. All of it without branches: with them,
// lavapipe's compiler does not end when x is a constant.
fn f32_pow(x: f32, y: f32, zero: vec2<u32>) -> f32 {
    let size = abs(x);
    let negative = bitcast<i32>(x) < 0;
    let special = f32_log_is_special(size);
    let log = f32_log2_pair(select(size, 2.0, special), zero);
    let power = select(y, 1.0, !f32_is_finite(y));
    // Beyond these the result is certain, and the product could overflow.
    let estimate = log.x * power;
    let far = abs(estimate) > 200.0;
    let product = pair_product(log, vec2<f32>(select(power, 0.0, far), 0.0), zero);
    let k = round(product.x);
    let near = f32_scale(f32_exp2_reduced((product.x - k) + product.y), i32(k));
    let whole = f32_is_finite(y) && trunc(y) == y;
    let odd = whole && abs(y) < 16777216.0 && (i32(select(0.0, y, abs(y) < 16777216.0)) & 1) == 1;
    let grows = select((size > 1.0) == (bitcast<i32>(y) >= 0), (size == 0.0) == (bitcast<i32>(y) < 0), special);
    let limit = select(0u, 0x7f800000u, select(grows, estimate > 0.0, f32_is_finite(y) && !special));
    var bits = select(bitcast<u32>(near), limit, far || special || f32_is_inf(y));
    bits |= select(0u, 0x80000000u, odd && negative);
    bits = select(bits, 0x3f800000u, f32_is_inf(y) && size == 1.0);
    bits = select(bits, 0x7fc00000u, negative && !whole && !special && f32_is_finite(y));
    bits = select(bits, 0x7fc00000u, f32_is_nan(x) || f32_is_nan(y));
    return bitcast<f32>(select(bits, 0x3f800000u, y == 0.0 || bitcast<u32>(x) == 0x3f800000u));
}

// A word of the binary expansion of 2/pi, after a leading word of zero.
fn f32_two_over_pi(index: u32) -> u32 {
    var word: u32;
    switch (index) {
        case 1u: { word = 0xa2f9836eu; }
        case 2u: { word = 0x4e441529u; }
        case 3u: { word = 0xfc2757d1u; }
        case 4u: { word = 0xf534ddc0u; }
        case 5u: { word = 0xdb629599u; }
        case 6u: { word = 0x3c439041u; }
        case 7u: { word = 0xfe5163abu; }
        default: { word = 0u; }
    }
    return word;
}

// x modulo pi/2, in -pi/4 .. pi/4, and the number of quarter turns taken off, modulo 4. x is finite.
// Exact for all x: 96 bits of 2/pi are multiplied by the significand, in integers.
fn f32_quarter_turns(x: f32) -> vec2<f32> {
    var result: vec2<f32>;
    let bits = bitcast<u32>(x);
    if ((bits & 0x7fffffffu) <= 0x3f490fdau) {
        result = vec2<f32>(x, 0.0);
    } else {
        let mantissa = (bits & 0x7fffffu) | 0x800000u;
        let start = ((bits >> 23u) & 0xffu) - 120u;
        let word = start >> 5u;
        let shift = start & 31u;
        let t0 = f32_two_over_pi(word);
        let t1 = f32_two_over_pi(word + 1u);
        let t2 = f32_two_over_pi(word + 2u);
        let t3 = f32_two_over_pi(word + 3u);
        let w0 = u64_shl(vec2<u32>(t1, t0), shift).y;
        let w1 = u64_shl(vec2<u32>(t2, t1), shift).y;
        let w2 = u64_shl(vec2<u32>(t3, t2), shift).y;
        let middle = u32_mul_wide(mantissa, w1);
        let low = u32_mul_wide(mantissa, w2).y;
        let turns = u64_add(vec2<u32>(middle.x, mantissa * w0 + middle.y), vec2<u32>(low, 0u));
        let quarter = (turns.y + 0x20000000u) >> 30u;
        let rest = u64_sub(turns, vec2<u32>(0u, quarter << 30u));
        let size = i64_abs(rest);
        let lead = u64_clz(size);
        // The rest is size * 2^-62 quarter turns; 0xc90fdaa2 is pi/2 * 2^31.
        let angle = u32_mulhi(u64_shl(size, lead).y, 0xc90fdaa2u);
        let magnitude = f32_from_u32(angle) * f32_pow2(-29 - i32(lead));
        let negative = (rest.y ^ bits) >> 31u;
        let turned = select(quarter, 4u - quarter, (bits >> 31u) == 1u) & 3u;
        result = vec2<f32>(select(magnitude, -magnitude, negative == 1u), f32(turned));
    }
    return result;
}

fn f32_sin_reduced(r: f32) -> f32 {
    let z = r * r;
    let s = -0.166666672 + z * (0.00833332911 + z * (-0.000198393347 + z * 2.71830413e-6));
    return r + r * (z * s);
}

fn f32_cos_reduced(r: f32, zero: vec2<u32>) -> f32 {
    let z = r * r;
    let half = 0.5 * z;
    let one = f32_hide(1.0 - half, zero);
    let c = 0.0416666679 + z * (-0.00138888834 + z * (2.47995195e-5 + z * -2.72101687e-7));
    return one + ((f32_hide(1.0 - one, zero) - half) + z * (z * c));
}

fn f32_sin(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (!f32_is_finite(x)) {
        result = f32_bits(0x7fc00000u);
    } else {
        let parts = f32_quarter_turns(x);
        let turns = u32(parts.y);
        if ((bitcast<u32>(x) & 0x7fffffffu) < 0x39800000u) {
            result = x;
        } else {
            let value = select(f32_sin_reduced(parts.x), f32_cos_reduced(parts.x, zero), (turns & 1u) == 1u);
            result = select(value, -value, turns >= 2u);
        }
    }
    return result;
}

fn f32_cos(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (!f32_is_finite(x)) {
        result = f32_bits(0x7fc00000u);
    } else {
        let parts = f32_quarter_turns(x);
        let turns = u32(parts.y);
        let value = select(f32_cos_reduced(parts.x, zero), f32_sin_reduced(parts.x), (turns & 1u) == 1u);
        result = select(value, -value, turns == 1u || turns == 2u);
    }
    return result;
}

fn f32_tan(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (!f32_is_finite(x)) {
        result = f32_bits(0x7fc00000u);
    } else if ((bitcast<u32>(x) & 0x7fffffffu) < 0x39000000u) {
        result = x;
    } else {
        let parts = f32_quarter_turns(x);
        let sine = f32_sin_reduced(parts.x);
        let cosine = f32_cos_reduced(parts.x, zero);
        if ((u32(parts.y) & 1u) == 1u) {
            result = -cosine / sine;
        } else {
            result = sine / cosine;
        }
    }
    return result;
}

// The part of asin(x) beyond x, for |x| <= 0.5.
fn f32_asin_beyond(x: f32) -> f32 {
    let z = x * x;
    let upper = 0.0445154719 + z * (0.0318198204 + z * (0.0143938055 + z * 0.0375781581));
    return x * (z * (0.166666597 + z * (0.0750051215 + z * upper)));
}

fn f32_asin(x: f32) -> f32 {
    var result: f32;
    let size = abs(x);
    if (f32_is_nan(x) || size < 1e-4) {
        result = x;
    } else if (size > 1.0) {
        result = f32_bits(0x7fc00000u);
    } else if (size <= 0.5) {
        result = x + f32_asin_beyond(x);
    } else {
        let root = sqrt(0.5 * (1.0 - size));
        let value = 1.57079637 - (2.0 * (root + f32_asin_beyond(root)) + 4.37113883e-8);
        result = f32_copysign(value, x);
    }
    return result;
}

fn f32_acos(x: f32) -> f32 {
    var result: f32;
    let size = abs(x);
    if (f32_is_nan(x)) {
        result = x;
    } else if (size > 1.0) {
        result = f32_bits(0x7fc00000u);
    } else if (size <= 0.5) {
        result = 1.57079637 - (x + (f32_asin_beyond(x) + 4.37113883e-8));
    } else {
        let root = sqrt(0.5 * (1.0 - size));
        let half = root + f32_asin_beyond(root);
        result = select(2.0 * half, PI - (2.0 * half + 8.74227766e-8), x < 0.0);
    }
    return result;
}

// atan(numerator / denominator) for 0 <= numerator <= denominator, denominator > 0.
fn f32_atan_ratio(numerator: f32, denominator: f32) -> f32 {
    var result: f32;
    let ratio = numerator / denominator;
    let turned = ratio > 0.414213562;
    let x = select(ratio, (ratio - 1.0) / (ratio + 1.0), turned);
    let z = x * x;
    let upper = -0.142820165 + z * (0.110447526 + z * (-0.0847640932 + z * 0.0474396013));
    let beyond = x * (z * (-0.333333313 + z * (0.199999049 + z * upper)));
    if (turned) {
        result = 0.785398185 + (x + (beyond - 2.18556941e-8));
    } else {
        result = x + beyond;
    }
    return result;
}

fn f32_atan(x: f32) -> f32 {
    var result: f32;
    if (f32_is_nan(x)) {
        result = x;
    } else {
        let size = abs(x);
        if (size <= 1.0) {
            result = select(f32_copysign(f32_atan_ratio(size, 1.0), x), x, size < 1e-4);
        } else if (f32_is_inf(x)) {
            result = f32_copysign(1.57079637, x);
        } else {
            result = f32_copysign(1.57079637 - (f32_atan_ratio(1.0, size) + 4.37113883e-8), x);
        }
    }
    return result;
}

// The angle of the point (x, y), with the special cases of IEEE 754.
fn f32_atan2(y: f32, x: f32) -> f32 {
    var result: f32;
    if (f32_is_nan(x) || f32_is_nan(y)) {
        result = f32_bits(0x7fc00000u);
    } else {
        let left = bitcast<i32>(x) < 0;
        var wide = abs(x);
        var high = abs(y);
        if (f32_is_inf(x) && f32_is_inf(y)) {
            wide = 1.0;
            high = 1.0;
        } else if (max(wide, high) > 1e30) {
            wide *= 1e-10;
            high *= 1e-10;
        } else if (max(wide, high) < 1e-20) {
            wide *= 1e15;
            high *= 1e15;
        }
        var angle = 0.0;
        if (high > wide) {
            angle = 1.57079637;
            if (!f32_is_inf(y)) {
                let ratio = f32_atan_ratio(wide, high);
                angle = select(angle - (ratio + 4.37113883e-8), angle + (ratio - 4.37113883e-8), left);
            }
        } else {
            if (high > 0.0 && !f32_is_inf(x)) {
                angle = f32_atan_ratio(high, wide);
            }
            if (high == wide && high > 0.0) {
                angle = 0.785398185;
            }
            if (left) {
                angle = PI - (angle + 8.74227766e-8);
            }
        }
        result = f32_copysign(angle, y);
    }
    return result;
}

fn f32_sinh(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x) || abs(x) < 1e-4) {
        result = x;
    } else {
        let size = abs(x);
        if (size > 15.0) {
            result = f32_copysign(f32_exp_scaled(size, -1, zero), x);
        } else {
            let grown = f32_expm1(size, zero);
            result = f32_copysign(0.5 * (grown + grown / (grown + 1.0)), x);
        }
    }
    return result;
}

fn f32_cosh(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x)) {
        result = x;
    } else {
        let size = abs(x);
        if (size > 15.0) {
            result = f32_exp_scaled(size, -1, zero);
        } else {
            let grown = f32_exp(size, zero);
            result = 0.5 * grown + 0.5 / grown;
        }
    }
    return result;
}

fn f32_tanh(x: f32, zero: vec2<u32>) -> f32 {
    var result: f32;
    if (f32_is_nan(x) || abs(x) < 1e-4) {
        result = x;
    } else {
        let grown = f32_expm1(2.0 * min(abs(x), 10.0), zero);
        result = f32_copysign(grown / (grown + 2.0), x);
    }
    return result;
}

fn f32_rsqrt(x: f32) -> f32 {
    return 1.0 / sqrt(x);
}
