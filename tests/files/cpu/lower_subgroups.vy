// test: cpu lower_subgroups
//
// Subgroups of 32 lanes exchange values through workgroup memory.

// case: a ballot on what only each lane has
program workgroup(64, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1

let b = ballot(a[gid.x] > 7)
out[gid.x] = lane(b, 0)
// expect:
program workgroup(64, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_bits_u32_1: workgroup u32[2]
buffer subgroup_flags_u8_1: workgroup u8[64]

subgroup_flags_u8_1[lid.x] = u8(a[gid.x] > 7u32)
barrier seq_cst
if lid.x < 2u32 {
    let word_1 = 0u32
    for k_1 in 0..32 {
        word_1 = word_1 | (u32(subgroup_flags_u8_1[lid.x * 32u32 + k_1] != 0u8) << k_1)
    }
    subgroup_bits_u32_1[lid.x] = word_1
}
barrier seq_cst
let b = vec4<u32>(subgroup_bits_u32_1[lid.x / 32u32], 0u32, 0u32, 0u32)
out[gid.x] = lane(b, 0)

// case: a ballot on what any lane can compute, the last words with fewer lanes
program workgroup(70, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

let c = a[gid.x]
let b = ballot((c > 7) & (lid.x % 5 != 3))
out[gid.x] = lane(b, 0) + lane(ballot(c > lane(b, 0) % 40), 0)
// expect:
program workgroup(70, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_bits_u32_1: workgroup u32[3]
buffer subgroup_flags_u8_1: workgroup u8[96]

let c = a[gid.x]
barrier seq_cst
if lid.x < 3u32 {
    let word_1 = 0u32
    for k_1 in 0..min(32u32, 70u32 - lid.x * 32u32) {
        word_1 = word_1 | (u32((a[wid.x * 70u32 + lid.x * 32u32 + k_1] > 7u32) & ((lid.x * 32u32 + k_1) % 5u32 != 3u32)) << k_1)
    }
    subgroup_bits_u32_1[lid.x] = word_1
}
barrier seq_cst
let b = vec4<u32>(subgroup_bits_u32_1[lid.x / 32u32], 0u32, 0u32, 0u32)
subgroup_flags_u8_1[lid.x] = u8(c > lane(b, 0) % 40u32)
barrier seq_cst
if lid.x < 3u32 {
    let word_2 = 0u32
    for k_2 in 0..32 {
        word_2 = word_2 | (u32(subgroup_flags_u8_1[lid.x * 32u32 + k_2] != 0u8) << k_2)
    }
    subgroup_bits_u32_1[lid.x] = word_2
}
barrier seq_cst
let ballot_2 = vec4<u32>(subgroup_bits_u32_1[lid.x / 32u32], 0u32, 0u32, 0u32)
out[gid.x] = lane(b, 0) + lane(ballot_2, 0)

// case: a ballot in a loop of the workgroup
program workgroup(32, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[] @1

for j in 0u32..4u32 {
    let b = ballot(a[gid.x + j * 64] > 20u8)
    out[gid.x + j * 64] = lane(b, 0)
}
// expect:
program workgroup(32, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[] @1
buffer subgroup_bits_u32_1: workgroup u32[1]

for j in 0..4 {
    barrier seq_cst
    if lid.x < 1u32 {
        let word_1 = 0u32
        for k_1 in 0..32 {
            word_1 = word_1 | (u32(a[wid.x * 32u32 + lid.x * 32u32 + k_1 + j * 64u32] > 20u8) << k_1)
        }
        subgroup_bits_u32_1[lid.x] = word_1
    }
    barrier seq_cst
    let b = vec4<u32>(subgroup_bits_u32_1[lid.x / 32u32], 0u32, 0u32, 0u32)
    out[gid.x + j * 64u32] = lane(b, 0)
}

// case: a reduction of integers
program workgroup(64, 1, 1)

buffer a: read_only i32[] @0
buffer out: read_write i32[] @1

out[gid.x] = subgroup_max(a[gid.x])
// expect:
program workgroup(64, 1, 1)

buffer a: read_only i32[] @0
buffer out: read_write i32[] @1
buffer subgroup_totals_i32_1: workgroup i32[2]

barrier seq_cst
if lid.x < 2u32 {
    let first_1 = lid.x * 32u32
    let total_1 = -2147483648i32
    for k_1 in 0..32 {
        total_1 = max(total_1, a[wid.x * 64u32 + first_1 + k_1])
    }
    subgroup_totals_i32_1[lid.x] = total_1
}
barrier seq_cst
let joined_1 = subgroup_totals_i32_1[lid.x / 32u32]
out[gid.x] = joined_1

// case: a reduction of floats in a workgroup of two axes that subgroups do not divide
program workgroup(10, 4, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1

let sum = subgroup_add(a[lid.x + lid.y * 10])
out[lid.x + lid.y * 10] = sum
// expect:
program workgroup(10, 4, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer subgroup_totals_f32_1: workgroup f32[2]
buffer subgroup_values_f32_1: workgroup f32[40]

subgroup_values_f32_1[lid.x + lid.y * 10u32] = a[lid.x + lid.y * 10u32]
barrier seq_cst
if lid.x + lid.y * 10u32 < 2u32 {
    let first_1 = (lid.x + lid.y * 10u32) * 32u32
    let total_1 = subgroup_values_f32_1[first_1]
    for k_1 in 1..min(32u32, 40u32 - first_1) {
        total_1 = total_1 + subgroup_values_f32_1[first_1 + k_1]
    }
    subgroup_totals_f32_1[lid.x + lid.y * 10u32] = total_1
}
barrier seq_cst
let sum = subgroup_totals_f32_1[(lid.x + lid.y * 10u32) / 32u32]
out[lid.x + lid.y * 10u32] = sum

// case: a reduction of what only each lane has, and of floats that any lane can compute
program workgroup(72, 1, 1)

buffer a: read_write i32[] @0
buffer x: read_only f32[] @1
buffer out: read_write f32[] @2

let most = subgroup_max(a[gid.x])
out[gid.x] = subgroup_add(x[gid.x] * 2.0f32) + f32(most)
// expect:
program workgroup(72, 1, 1)

buffer a: read_write i32[] @0
buffer x: read_only f32[] @1
buffer out: read_write f32[] @2
buffer subgroup_totals_i32_1: workgroup i32[3]
buffer subgroup_values_i32_1: workgroup i32[72]
buffer subgroup_totals_f32_1: workgroup f32[3]

subgroup_values_i32_1[lid.x] = a[gid.x]
barrier seq_cst
if lid.x < 3u32 {
    let first_1 = lid.x * 32u32
    let total_1 = -2147483648i32
    for k_1 in 0..min(32u32, 72u32 - first_1) {
        total_1 = max(total_1, subgroup_values_i32_1[first_1 + k_1])
    }
    subgroup_totals_i32_1[lid.x] = total_1
}
barrier seq_cst
let most = subgroup_totals_i32_1[lid.x / 32u32]
barrier seq_cst
if lid.x < 3u32 {
    let first_2 = lid.x * 32u32
    let total_2 = x[wid.x * 72u32 + first_2 + 0u32] * 2.0f32
    for k_2 in 1..min(32u32, 72u32 - first_2) {
        total_2 = total_2 + x[wid.x * 72u32 + first_2 + k_2] * 2.0f32
    }
    subgroup_totals_f32_1[lid.x] = total_2
}
barrier seq_cst
let joined_2 = subgroup_totals_f32_1[lid.x / 32u32]
out[gid.x] = joined_2 + f32(most)

// case: a shuffle by a signed lane
program workgroup(48, 1, 1)

buffer a: read_only u16[] @0
buffer sources: read_only i8[] @1
buffer out: read_write u16[] @2

out[gid.x] = shuffle(a[gid.x], sources[gid.x])
// expect:
program workgroup(48, 1, 1)

buffer a: read_only u16[] @0
buffer sources: read_only i8[] @1
buffer out: read_write u16[] @2
buffer subgroup_values_u16_1: workgroup u16[48]

let source_1 = sources[gid.x]
subgroup_values_u16_1[lid.x] = a[gid.x]
barrier seq_cst
let shuffled_1 = subgroup_values_u16_1[select(u64(source_1) < 32u64, lid.x / 32u32 * 32u32 + u32(source_1), 4294967295u32)]
barrier seq_cst
out[gid.x] = shuffled_1

// case: lane and size without an exchange
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

out[gid.x] = subgroup_lane * subgroup_size
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

out[gid.x] = lid.x % 32u32 * 32u32

// case: what is read before an exchange is bound before it
program workgroup(32, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1

out[atomic_add(a[gid.x], 1)] = a[gid.x] + subgroup_add(atomic_add(a[gid.x], 7)) * a[gid.x]
// expect:
program workgroup(32, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_totals_u32_1: workgroup u32[1]
buffer subgroup_values_u32_1: workgroup u32[32]

let before_1 = atomic_add(a[gid.x], 1u32)
let before_2 = a[gid.x]
subgroup_values_u32_1[lid.x] = atomic_add(a[gid.x], 7u32)
barrier seq_cst
if lid.x < 1u32 {
    let first_1 = lid.x * 32u32
    let total_1 = 0u32
    for k_1 in 0..32 {
        total_1 = total_1 + subgroup_values_u32_1[first_1 + k_1]
    }
    subgroup_totals_u32_1[lid.x] = total_1
}
barrier seq_cst
let joined_1 = subgroup_totals_u32_1[lid.x / 32u32]
out[before_1] = before_2 + joined_1 * a[gid.x]

// case: a loop whose condition is an exchange
program workgroup(1, 1, 1)

buffer a: read_write u32[] @0

let left = a[gid.x] % 9
while lane(ballot(left > 0), 0) != 0 {
    left = left - min(left, 1)
    a[gid.x] = left
}
// expect:
program workgroup(1, 1, 1)

buffer a: read_write u32[] @0
buffer subgroup_bits_u32_1: workgroup u32[1]
buffer subgroup_flags_u8_1: workgroup u8[32]

let left = a[gid.x] % 9u32
while true {
    subgroup_flags_u8_1[lid.x] = u8(left > 0u32)
    barrier seq_cst
    if lid.x < 1u32 {
        let word_1 = 0u32
        for k_1 in 0..32 {
            word_1 = word_1 | (u32(subgroup_flags_u8_1[lid.x * 32u32 + k_1] != 0u8) << k_1)
        }
        subgroup_bits_u32_1[lid.x] = word_1
    }
    barrier seq_cst
    let ballot_1 = vec4<u32>(subgroup_bits_u32_1[lid.x / 32u32], 0u32, 0u32, 0u32)
    if ~(lane(ballot_1, 0) != 0u32) {
        break
    }
    left = left - min(left, 1u32)
    a[gid.x] = left
}

// case: a program without subgroups
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

out[gid.x] = gid.x
// expect: unchanged
