// test: cpu lower_subgroups compact_leaders
//
// What one lane of each subgroup does is done by the first lanes of the workgroup.

// case: a word per subgroup
program workgroup(256, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[] @1

let b = ballot(a[gid.x] == 10u8)
if subgroup_lane == 0 {
    out[gid.x / 32] = lane(b, 0)
}
// expect:
program workgroup(256, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[] @1
buffer subgroup_bits_u32_1: workgroup u32[8]

barrier seq_cst
if lid.x < 8u32 {
    let word_1 = 0u32
    for k_1 in 0..32 {
        word_1 = word_1 | (u32(a[wid.x * 256u32 + lid.x * 32u32 + k_1] == 10u8) << k_1)
    }
    subgroup_bits_u32_1[lid.x] = word_1
}
barrier seq_cst
barrier seq_cst
if lid.x < 8u32 {
    out[wid.x * 8u32 + lid.x] = lane(vec4<u32>(subgroup_bits_u32_1[lid.x], 0u32, 0u32, 0u32), 0)
}
barrier seq_cst

// case: a guard with more conditions, and a loop in a loop
program workgroup(128, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

for j in 0u32..3u32 {
    let i = gid.x + j * 4096
    let sum = subgroup_add(a[i])
    if (subgroup_lane == 0) & (i < 900) {
        let most = sum % 5
        for k in 0u32..3u32 {
            out[(i >> 5) + k * 40] = sum + most
        }
    }
}
// expect:
program workgroup(128, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_totals_u32_1: workgroup u32[4]

for j in 0..3 {
    barrier seq_cst
    if lid.x < 4u32 {
        let first_1 = lid.x * 32u32
        let total_1 = 0u32
        for k_1 in 0..32 {
            total_1 = total_1 + a[wid.x * 128u32 + first_1 + k_1 + j * 4096u32]
        }
        subgroup_totals_u32_1[lid.x] = total_1
    }
    barrier seq_cst
    barrier seq_cst
    if (lid.x < 4u32) & (wid.x * 128u32 + lid.x * 32u32 + j * 4096u32 < 900u32) {
        let most = subgroup_totals_u32_1[lid.x] % 5u32
        for k in 0..3 {
            out[((wid.x * 128u32 + lid.x * 32u32 + j * 4096u32) >> 5u32) + k * 40u32] = subgroup_totals_u32_1[lid.x] + most
        }
    }
    barrier seq_cst
}

// case: a variable that lanes assign
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

let own = a[gid.x]
own = own + 1
let sum = subgroup_add(own)
if subgroup_lane == 0 {
    out[gid.x / 32] = sum + own
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_totals_u32_1: workgroup u32[2]
buffer subgroup_values_u32_1: workgroup u32[64]

let own = a[gid.x]
own = own + 1u32
subgroup_values_u32_1[lid.x] = own
barrier seq_cst
if lid.x < 2u32 {
    let first_1 = lid.x * 32u32
    let total_1 = 0u32
    for k_1 in 0..32 {
        total_1 = total_1 + subgroup_values_u32_1[first_1 + k_1]
    }
    subgroup_totals_u32_1[lid.x] = total_1
}
barrier seq_cst
let sum = subgroup_totals_u32_1[lid.x / 32u32]
if lid.x % 32u32 == 0u32 {
    out[gid.x / 32u32] = sum + own
}

// case: a load that a store in between may change
program workgroup(64, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1

let sum = subgroup_add(a[gid.x])
let before = a[gid.x]
a[gid.x] = before * 2 + 1
if subgroup_lane == 0 {
    out[gid.x / 32] = sum + before
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_write u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_totals_u32_1: workgroup u32[2]
buffer subgroup_values_u32_1: workgroup u32[64]

subgroup_values_u32_1[lid.x] = a[gid.x]
barrier seq_cst
if lid.x < 2u32 {
    let first_1 = lid.x * 32u32
    let total_1 = 0u32
    for k_1 in 0..32 {
        total_1 = total_1 + subgroup_values_u32_1[first_1 + k_1]
    }
    subgroup_totals_u32_1[lid.x] = total_1
}
barrier seq_cst
let sum = subgroup_totals_u32_1[lid.x / 32u32]
let before = a[gid.x]
a[gid.x] = before * 2u32 + 1u32
if lid.x % 32u32 == 0u32 {
    out[gid.x / 32u32] = sum + before
}

// case: lanes that have returned
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

let sum = subgroup_add(a[gid.x])
if a[gid.x] > 20 {
    return
}
if subgroup_lane == 0 {
    out[gid.x / 32] = sum
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer subgroup_totals_u32_1: workgroup u32[2]

barrier seq_cst
if lid.x < 2u32 {
    let first_1 = lid.x * 32u32
    let total_1 = 0u32
    for k_1 in 0..32 {
        total_1 = total_1 + a[wid.x * 64u32 + first_1 + k_1]
    }
    subgroup_totals_u32_1[lid.x] = total_1
}
barrier seq_cst
let sum = subgroup_totals_u32_1[lid.x / 32u32]
if a[gid.x] > 20u32 {
    return
}
if lid.x % 32u32 == 0u32 {
    out[gid.x / 32u32] = sum
}

// case: leaders without a barrier
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if lid.x % 32 == 0 {
    out[gid.x / 32] = 1u32
}
// expect: unchanged
