// 32-bit integer operations whose edge cases WGSL defines otherwise, or not at all.

// Twice zero, though no compiler can tell: no sum of three squares is 7 modulo 8, so one of its lower
// three bits is zero. Of the grid, as drivers may look into uniform memory before they compile.
fn hidden_zero(grid: vec3<u32>) -> vec2<u32> {
    let squares = dot(grid, grid);
    let zero = squares & (squares >> 1u) & (squares >> 2u) & 1u;
    return vec2<u32>(zero, zero << 1u);
}

// WGSL gives a for a / 0.
fn u32_div(a: u32, b: u32) -> u32 {
    return select(a / b, 0xffffffffu, b == 0u);
}

// WGSL gives a for a / 0, and wraps the quotient of the least value and -1 as we do.
fn i32_div(a: i32, b: i32) -> i32 {
    return select(a / b, -1i, b == 0i);
}

fn u32_rotl(a: u32, amount: u32) -> u32 {
    let n = amount & 31u;
    return (a << n) | ((a >> 1u) >> (31u - n));
}

fn u32_rotr(a: u32, amount: u32) -> u32 {
    let n = amount & 31u;
    return (a >> n) | ((a << 1u) << (31u - n));
}

fn u32_byte_swap(a: u32) -> u32 {
    return (a << 24u) | ((a & 0xff00u) << 8u) | ((a >> 8u) & 0xff00u) | (a >> 24u);
}

fn u32_add_sat(a: u32, b: u32) -> u32 {
    return a + min(b, ~a);
}

fn u32_sub_sat(a: u32, b: u32) -> u32 {
    return a - min(a, b);
}

// The 32-bit value farthest from zero on the side of a's sign.
fn i32_limit(a: i32) -> i32 {
    return (a >> 31u) ^ 0x7fffffff;
}

fn i32_add_sat(a: i32, b: i32) -> i32 {
    let sum = a + b;
    return select(sum, i32_limit(a), ((a ^ sum) & (b ^ sum)) < 0);
}

fn i32_sub_sat(a: i32, b: i32) -> i32 {
    let difference = a - b;
    return select(difference, i32_limit(a), ((a ^ b) & (a ^ difference)) < 0);
}

// To the nearest f32, ties to even: both halves are exact, and their sum is rounded once.
fn f32_from_u32(a: u32) -> f32 {
    return f32(a >> 16u) * 65536.0 + f32(a & 0xffffu);
}

// Toward zero, saturating; NaN gives 0. Without branches: calls of these are many.
fn u32_from_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    // As integers, the bits of numbers from 0 up to 2^32 are below those of everything else.
    let inside = u32(select(0.0, x, bits < 0x4f800000u));
    return select(inside, 0xffffffffu, bits >= 0x4f800000u && bits <= 0x7f800000u);
}

fn i32_from_f32(x: f32) -> i32 {
    let size = bitcast<u32>(x) & 0x7fffffffu;
    let inside = i32(select(0.0, x, size < 0x4f000000u));
    let beyond = size >= 0x4f000000u && size <= 0x7f800000u;
    return select(inside, i32_limit(bitcast<i32>(x)), beyond);
}

// Rotations of the lower `width` bits (a power of two below 32); the bits above are left over.
fn narrow_rotl(a: u32, amount: u32, width: u32) -> u32 {
    let n = amount & (width - 1u);
    return (a << n) | (a >> (width - n));
}

fn narrow_rotr(a: u32, amount: u32, width: u32) -> u32 {
    let n = amount & (width - 1u);
    return (a >> n) | (a << (width - n));
}
