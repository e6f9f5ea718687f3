// test: opt aggregate_atomics
//
// One lane for the subgroup.

// case: a counter
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[0], 1u32)
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

let joined_1 = subgroup_add(1u32)
if subgroup_lane == 0u32 {
    eval atomic_add(h[0], joined_1)
}

// case: under a condition
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer h: read_write i32[4] @1

if gid.x < len(a) {
    eval atomic_min(h[1], i32(a[gid.x]))
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer h: read_write i32[4] @1

let joined_1 = subgroup_min(select(gid.x < len(a), i32(a[gid.x]), 2147483647i32))
if (subgroup_lane == 0u32) & (joined_1 != 2147483647i32) {
    eval atomic_min(h[1], joined_1)
}

// case: a subtraction
program workgroup(64, 1, 1)

buffer h: read_write u64[4] @0

eval atomic_sub(h[0], u64(gid.x))
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u64[4] @0

let joined_1 = subgroup_add(u64(gid.x))
if subgroup_lane == 0u32 {
    eval atomic_sub(h[0], joined_1)
}

// case: its result is used
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0
buffer out: read_write u32[64] @1

eval atomic_add(h[0], 1u32)
out[gid.x] = atomic_add(h[1], 1u32)
// expect: unchanged

// case: every invocation has its own element
program workgroup(64, 1, 1)

buffer h: read_write u32[64] @0

eval atomic_add(h[lid.x], 1u32)
// expect: unchanged

// case: not the whole workgroup arrives
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer h: read_write u32[4] @1

if gid.x >= len(a) {
    return
}
eval atomic_add(h[0], a[gid.x])
// expect: unchanged

// case: floats are not joined in another order
program workgroup(64, 1, 1)

buffer h: read_write f32[4] @0

eval atomic_add(h[0], 1.0f32)
// expect: unchanged

// case: twice is once
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

let joined_1 = subgroup_add(1u32)
if subgroup_lane == 0u32 {
    eval atomic_add(h[0], joined_1)
}
// expect: unchanged
