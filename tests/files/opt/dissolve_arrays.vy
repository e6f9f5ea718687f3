// test: opt dissolve_arrays
//
// An invocation's own array that is indexed by numbers alone needs no memory.

// case: elements become variables, a new one for every store
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[2]

mine[0] = a[gid.x]
mine[1] = mine[0] * 3u32
mine[0] = mine[1] + mine[0]
out[gid.x] = mine[0]
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[2]

let mine_1 = 0u32
let mine_2 = 0u32
let mine_3 = a[gid.x]
let mine_4 = mine_3 * 3u32
let mine_5 = mine_4 + mine_3
out[gid.x] = mine_5

// case: elements begin as zeros, and live as long as the array in loops
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[64] @1
buffer seen: local bool[2]

for i in 0u32..40u32 {
    if seen[1] {
        out[i] = 1u32
    }
    seen[0] = a[i] == 7u8
    seen[1] = seen[0]
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u8[] @0
buffer out: read_write u32[64] @1
buffer seen: local bool[2]

let seen_1 = false
let seen_2 = false
for i in 0..40 {
    if seen_2 {
        out[i] = 1u32
    }
    seen_1 = a[i] == 7u8
    seen_2 = seen_1
}

// case: bound where all uses are, unless that is a loop
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[64] @1
buffer inner: local f32[1]
buffer outer: local f32[1]

if gid.x < 40u32 {
    inner[0] = a[gid.x]
    if inner[0] > 1.0f32 {
        inner[0] = 1.0f32
    }
    out[gid.x] = inner[0]
    while a[0] > outer[0] {
        outer[0] = outer[0] + inner[0]
    }
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only f32[] @0
buffer out: read_write f32[64] @1
buffer inner: local f32[1]
buffer outer: local f32[1]

if gid.x < 40u32 {
    let inner_1 = 0.0f32
    let inner_2 = a[gid.x]
    if inner_2 > 1.0f32 {
        inner_2 = 1.0f32
    }
    out[gid.x] = inner_2
    let outer_1 = 0.0f32
    while a[0] > outer_1 {
        outer_1 = outer_1 + inner_2
    }
}

// case: an index made of literals
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer mine: local u32[4]

mine[1u32 + 2u32] = gid.x
out[gid.x] = mine[3]
// expect:
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer mine: local u32[4]

let mine_1 = 0u32
let mine_2 = 0u32
let mine_3 = 0u32
let mine_4 = 0u32
let mine_5 = gid.x
out[gid.x] = mine_5

// case: one index is not known
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer mine: local u32[4]

mine[1] = gid.x
out[gid.x] = mine[gid.x & 3u32]
// expect: unchanged

// case: a literal outside of the array
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer mine: local u32[4]

mine[1] = gid.x
mine[3i32 + 1i32] = 5u32
out[gid.x] = mine[1]
// expect: unchanged

// case: elements that keep less than a variable
program workgroup(64, 1, 1)

buffer out: read_write f32[64] @0
buffer mine: local f8e4m3[4]

mine[1] = f32(gid.x)
out[gid.x] = mine[1]
// expect: unchanged

// case: a negative index
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer mine: local u32[4]

mine[3] = gid.x
out[gid.x] = mine[2i32 - 3i32]
// expect: unchanged
