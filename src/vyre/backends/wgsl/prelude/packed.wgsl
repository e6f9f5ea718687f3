// Storage-only formats of one byte: to and from the values that kernels compute with.

// A float with few bits: the sign above `exponent_bits`, those above `mantissa_bits`. No specials.
fn f32_from_small(code: u32, exponent_bits: u32, mantissa_bits: u32) -> f32 {
    var result: f32;
    let bias = (1u << (exponent_bits - 1u)) - 1u;
    let sign = ((code >> (exponent_bits + mantissa_bits)) & 1u) << 31u;
    let exponent = (code >> mantissa_bits) & ((1u << exponent_bits) - 1u);
    let mantissa = code & ((1u << mantissa_bits) - 1u);
    if (exponent == 0u) {
        let unit = bitcast<f32>((128u - bias - mantissa_bits) << 23u);
        result = bitcast<f32>(sign | bitcast<u32>(f32(mantissa) * unit));
    } else {
        result = bitcast<f32>(sign | ((exponent + 127u - bias) << 23u) | (mantissa << (23u - mantissa_bits)));
    }
    return result;
}

// The code nearest to |x|, ties to even, without sign and without an upper end. x is not NaN.
fn small_from_f32(x: f32, exponent_bits: u32, mantissa_bits: u32) -> u32 {
    var result: u32;
    let bias = (1u << (exponent_bits - 1u)) - 1u;
    let size = bitcast<u32>(x) & 0x7fffffffu;
    let least = (128u - bias) << 23u;
    if (size < least) {
        let unit = bitcast<f32>((126u + bias + mantissa_bits) << 23u);
        result = u32(round(bitcast<f32>(size) * unit));
    } else {
        let shift = 23u - mantissa_bits;
        let shifted = size - ((127u - bias) << 23u);
        result = (shifted + (1u << (shift - 1u)) - 1u + ((shifted >> shift) & 1u)) >> shift;
    }
    return result;
}

fn f32_from_f8e4m3(code: u32) -> f32 {
    var result: f32;
    if ((code & 0x7fu) == 0x7fu) {
        result = f32_bits(0x7fc00000u);
    } else {
        result = f32_from_small(code, 4u, 3u);
    }
    return result;
}

fn f8e4m3_from_f32(x: f32) -> u32 {
    var result: u32;
    let sign = (bitcast<u32>(x) >> 24u) & 0x80u;
    if (f32_is_nan(x)) {
        result = sign | 0x7fu;
    } else {
        result = sign | min(small_from_f32(x, 4u, 3u), 0x7eu);
    }
    return result;
}

fn f32_from_f8e5m2(code: u32) -> f32 {
    var result: f32;
    if ((code & 0x7fu) >= 0x7cu) {
        let sign = (code & 0x80u) << 24u;
        result = f32_bits(sign | select(0x7fc00000u, 0x7f800000u, (code & 3u) == 0u));
    } else {
        result = f32_from_small(code, 5u, 2u);
    }
    return result;
}

fn f8e5m2_from_f32(x: f32) -> u32 {
    var result: u32;
    let sign = (bitcast<u32>(x) >> 24u) & 0x80u;
    if (f32_is_nan(x)) {
        result = sign | 0x7eu;
    } else {
        result = sign | min(small_from_f32(x, 5u, 2u), 0x7cu);
    }
    return result;
}

fn f32_from_fp4(code: u32) -> f32 {
    return f32_from_small(code, 2u, 1u);
}

fn fp4_from_f32(x: f32) -> u32 {
    var result: u32;
    if (f32_is_nan(x)) {
        result = 0u;
    } else {
        result = ((bitcast<u32>(x) >> 28u) & 8u) | min(small_from_f32(x, 2u, 1u), 7u);
    }
    return result;
}

fn i32_from_i4(code: u32) -> i32 {
    return bitcast<i32>(code << 28u) >> 28u;
}

fn i4_from_i32(x: i32) -> u32 {
    return bitcast<u32>(clamp(x, -8i, 7i)) & 0xfu;
}

fn f32_from_nf4(code: u32) -> f32 {
    var value: f32;
    switch (code & 0xfu) {
        case 0u: { value = -1.0; }
        case 1u: { value = -0.6961928; }
        case 2u: { value = -0.52507305; }
        case 3u: { value = -0.3949175; }
        case 4u: { value = -0.28444138; }
        case 5u: { value = -0.18477343; }
        case 6u: { value = -0.091050036; }
        case 7u: { value = 0.0; }
        case 8u: { value = 0.0795803; }
        case 9u: { value = 0.1609302; }
        case 10u: { value = 0.2461123; }
        case 11u: { value = 0.33791524; }
        case 12u: { value = 0.44070983; }
        case 13u: { value = 0.562617; }
        case 14u: { value = 0.72295684; }
        default: { value = 1.0; }
    }
    return value;
}

// The code is how many boundaries between the values are below x.
fn nf4_from_f32(x: f32) -> u32 {
    var result: u32;
    if (f32_is_nan(x)) {
        result = 7u;
    } else {
        var code = 0u;
        code += u32(x > -0.84809643);
        code += u32(x > -0.61063296);
        code += u32(x > -0.45999527);
        code += u32(x > -0.33967945);
        code += u32(x > -0.23460741);
        code += u32(x > -0.13791174);
        code += u32(x > -0.045525018);
        code += u32(x > 0.03979015);
        code += u32(x > 0.12025525);
        code += u32(x > 0.20352125);
        code += u32(x > 0.29201376);
        code += u32(x > 0.38931254);
        code += u32(x > 0.5016634);
        code += u32(x > 0.6427869);
        code += u32(x > 0.8614784);
        result = code;
    }
    return result;
}
