// test: opt simplify
//
// Algebra by proved rules; nothing with an effect is dropped, repeated or moved.

// case: neutral operands go
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x + 0u32
let y = x * 1u32
out[y] = (y ^ y) + (x | 0u32)
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x
let y = x
out[y] = x

// case: literals are folded, wrapping
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4294967295u32 + 2u32
out[x] = clz(1u32)
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 1u32
out[x] = 31u32

// case: equations are solved
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x + 3u32 == 10u32 {
    out[0] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x == 7u32 {
    out[0] = 1u32
}

// case: a division by zero that folding makes gets its meaning
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x / (4u32 - 4u32)
out[0] = x + gid.x % (a[0] ^ a[0])
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = 4294967295u32
out[0] = x

// case: an index out of bounds that folding makes gives zero
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = out[60u32 + 10u32]
out[64u32 * 2u32] = 5u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 0u32

// case: an atomic is not dropped by a multiplication with zero
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

let x = atomic_add(h[0], 1u32) * 0u32
h[1] = x
// expect: unchanged

// case: floats keep their zeros and NaNs
program workgroup(64, 1, 1)

buffer f: read_write f32[64] @0

let x = f[lid.x]
f[0] = x + 0.0f32
f[1] = x - x
f[2] = x * 0.0f32
f[3] = x + -0.0f32
f[4] = select(x == x, 1.0f32, 2.0f32)
// expect:
program workgroup(64, 1, 1)

buffer f: read_write f32[64] @0

let x = f[lid.x]
f[0] = x + 0.0f32
f[1] = x - x
f[2] = x * 0.0f32
f[3] = x
f[4] = select(is_nan(x), 2.0f32, 1.0f32)

// case: fast math gives them up
program workgroup(64, 1, 1) fast_math

buffer f: read_write f32[64] @0

let x = f[lid.x]
f[0] = x + 0.0f32
f[1] = x - x
f[2] = x * 2.0f32 + 1.0f32
// expect:
program workgroup(64, 1, 1) fast_math

buffer f: read_write f32[64] @0

let x = f[lid.x]
f[0] = x
f[1] = 0.0f32
f[2] = fma(x, 2.0f32, 1.0f32)

// case: nothing to do
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[gid.x] = a[gid.x]
// expect: unchanged
