// test: opt promote_to_workgroup
//
// Tables that loops read at divergent indices.

// case: a table
program workgroup(64, 1, 1)

buffer table: read_only u32[256] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

let state = 0u32
for i in 0u32..len(a) {
    state = table[(state + gid.x) & 255u32]
}
out[gid.x] = state
// expect:
program workgroup(64, 1, 1)

buffer table: read_only u32[256] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2
buffer table_1: workgroup u32[256]

region "vyre.opt.promote_to_workgroup" {
    let lane_1 = lid.x
    for round_1 in 0..4 {
        let index_1 = round_1 * 64u32 + lane_1
        if index_1 < 256u32 {
            table_1[index_1] = table[index_1]
        }
    }
    barrier acq_rel
}
let state = 0u32
for i in 0..len(a) {
    state = table_1[(state + gid.x) & 255u32]
}
out[gid.x] = state

// case: read at indices on which the workgroup agrees
program workgroup(64, 1, 1)

buffer table: read_only u32[256] @0
buffer out: read_write u32[] @1

let sum = 0u32
for i in 0u32..256u32 {
    sum = sum + table[i]
}
out[gid.x] = sum
// expect: unchanged

// case: too large
program workgroup(64, 1, 1)

buffer table: read_only u32[4097] @0
buffer out: read_write u32[] @1

let state = gid.x
for i in 0u32..256u32 {
    state = table[state & 255u32]
}
out[gid.x] = state
// expect: unchanged

// case: not in a loop
program workgroup(64, 1, 1)

buffer table: read_only u32[256] @0
buffer out: read_write u32[] @1

out[gid.x] = table[gid.x & 255u32]
// expect: unchanged
