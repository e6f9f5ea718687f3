// test: opt trip_zero
//
// No round, or exactly one.

// case: no round
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 4u32..4u32 {
    out[i] = 1u32
}
out[0] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 2u32

// case: no round for negative bounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0i32..-3i32 {
    out[i] = 1u32
}
out[0] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 2u32

// case: one round
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 3u32..4u32 {
    out[i] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let i = 3u32
    out[i] = 1u32
}

// case: ranges prove it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 64u32..lid.x {
    out[i] = 1u32
}
out[0] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 2u32

// case: a bound with an effect
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

for i in 5u32..atomic_add(h[0], 1u32) & 3u32 {
    h[1] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[0], 1u32) & 3u32

// case: one round with a break
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 3u32..4u32 {
    if a[0] == 0u32 {
        break
    }
    out[i] = 1u32
}
// expect: unchanged

// case: who knows
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..a[0] {
    out[i] = 1u32
}
// expect: unchanged
