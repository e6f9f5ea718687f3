// test: cpu specialise_trip_counts
//
// Loops over the members of structures are fully unrolled in versions for 3, 4, 1 and 2 of them.

// case: members of pixels
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

region "r" {
    if gid.x < told[3] {
        for c in 0..told[2] {
            out[gid.x * told[2] + c] = a[gid.x * told[2] + c] + c
        }
    }
}
// expect:
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

region "r" {
    let is_3 = told[2] == 3u32
    let is_4 = told[2] == 4u32
    let is_1 = told[2] == 1u32
    let is_2 = told[2] == 2u32
    if is_3 {
        if gid.x < told[3] {
            let c.part.8 = a[gid.x * 3u32]
            let c.part.9 = a[gid.x * 3u32 + 1u32] + 1u32
            let c.part.10 = a[gid.x * 3u32 + 2u32] + 2u32
            out[gid.x * 3u32] = c.part.8
            out[gid.x * 3u32 + 1u32] = c.part.9
            out[gid.x * 3u32 + 2u32] = c.part.10
        }
    } else if is_4 {
        if gid.x < told[3] {
            let c.part.4 = a[gid.x * 4u32]
            let c.part.5 = a[gid.x * 4u32 + 1u32] + 1u32
            let c.part.6 = a[gid.x * 4u32 + 2u32] + 2u32
            let c.part.7 = a[gid.x * 4u32 + 3u32] + 3u32
            out[gid.x * 4u32] = c.part.4
            out[gid.x * 4u32 + 1u32] = c.part.5
            out[gid.x * 4u32 + 2u32] = c.part.6
            out[gid.x * 4u32 + 3u32] = c.part.7
        }
    } else if is_1 {
        if gid.x < told[3] {
            let c.part.3 = a[gid.x * 1u32]
            out[gid.x * 1u32] = c.part.3
        }
    } else if is_2 {
        if gid.x < told[3] {
            let c.part.1 = a[gid.x * 2u32]
            let c.part.2 = a[gid.x * 2u32 + 1u32] + 1u32
            out[gid.x * 2u32] = c.part.1
            out[gid.x * 2u32 + 1u32] = c.part.2
        }
    } else if gid.x < told[3] {
        for c in 0..told[2] {
            out[gid.x * told[2] + c] = a[gid.x * told[2] + c] + c
        }
    }
}
// version_flags: is_1, is_2, is_3, is_4

// case: two sizes, names in the loop, and a load of what is stored
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

let depth = told[2]
let sum = 0u32
for c in 0..depth {
    let x = a[gid.x * told[1] + c]
    sum = sum + x
    out[gid.x * depth + c] = out[gid.x * depth + c] + sum
}
// expect:
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

let is_3 = (told[2] == 3u32) & (told[1] == 3u32)
let is_4 = (told[2] == 4u32) & (told[1] == 4u32)
let is_1 = (told[2] == 1u32) & (told[1] == 1u32)
let is_2 = (told[2] == 2u32) & (told[1] == 2u32)
if is_3 {
    let depth.4 = 3u32
    let sum.4 = 0u32
    let x.8 = a[gid.x * 3u32]
    sum.4 = sum.4 + x.8
    let c.part.8 = out[gid.x * 3u32] + sum.4
    let x.9 = a[gid.x * 3u32 + 1u32]
    sum.4 = sum.4 + x.9
    let c.part.9 = out[gid.x * 3u32 + 1u32] + sum.4
    let x.10 = a[gid.x * 3u32 + 2u32]
    sum.4 = sum.4 + x.10
    let c.part.10 = out[gid.x * 3u32 + 2u32] + sum.4
    out[gid.x * 3u32] = c.part.8
    out[gid.x * 3u32 + 1u32] = c.part.9
    out[gid.x * 3u32 + 2u32] = c.part.10
} else if is_4 {
    let depth.3 = 4u32
    let sum.3 = 0u32
    let x.4 = a[gid.x * 4u32]
    sum.3 = sum.3 + x.4
    let c.part.4 = out[gid.x * 4u32] + sum.3
    let x.5 = a[gid.x * 4u32 + 1u32]
    sum.3 = sum.3 + x.5
    let c.part.5 = out[gid.x * 4u32 + 1u32] + sum.3
    let x.6 = a[gid.x * 4u32 + 2u32]
    sum.3 = sum.3 + x.6
    let c.part.6 = out[gid.x * 4u32 + 2u32] + sum.3
    let x.7 = a[gid.x * 4u32 + 3u32]
    sum.3 = sum.3 + x.7
    let c.part.7 = out[gid.x * 4u32 + 3u32] + sum.3
    out[gid.x * 4u32] = c.part.4
    out[gid.x * 4u32 + 1u32] = c.part.5
    out[gid.x * 4u32 + 2u32] = c.part.6
    out[gid.x * 4u32 + 3u32] = c.part.7
} else if is_1 {
    let depth.2 = 1u32
    let sum.2 = 0u32
    let x.3 = a[gid.x * 1u32]
    sum.2 = sum.2 + x.3
    let c.part.3 = out[gid.x * 1u32] + sum.2
    out[gid.x * 1u32] = c.part.3
} else if is_2 {
    let depth.1 = 2u32
    let sum.1 = 0u32
    let x.1 = a[gid.x * 2u32]
    sum.1 = sum.1 + x.1
    let c.part.1 = out[gid.x * 2u32] + sum.1
    let x.2 = a[gid.x * 2u32 + 1u32]
    sum.1 = sum.1 + x.2
    let c.part.2 = out[gid.x * 2u32 + 1u32] + sum.1
    out[gid.x * 2u32] = c.part.1
    out[gid.x * 2u32 + 1u32] = c.part.2
} else {
    let depth = told[2]
    let sum = 0u32
    for c in 0..depth {
        let x = a[gid.x * told[1] + c]
        sum = sum + x
        out[gid.x * depth + c] = out[gid.x * depth + c] + sum
    }
}
// version_flags: is_1, is_2, is_3, is_4

// case: a row of a matrix
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

let sum = 0u32
for c in 0..told[2] {
    sum = sum + a[gid.x * told[2] + c]
}
out[gid.x] = sum
// expect: unchanged

// case: a loop that ends early
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer a: read_only u32[] @1
buffer out: read_write u32[] @2

for c in 0..told[2] {
    if a[c] > 20u32 {
        break
    }
    out[gid.x * told[2] + c] = c
}
// expect: unchanged

// case: a trip count that the program stores
program workgroup(16, 1, 1)

buffer told: read_write u32[4] @0
buffer out: read_write u32[] @1

for c in 0..told[2] {
    out[gid.x * told[2] + c] = c
}
// expect: unchanged

// case: between barriers
program workgroup(16, 1, 1)

buffer told: uniform u32[4] @0
buffer out: read_write u32[] @1
buffer t: workgroup u32[16]

t[lid.x] = lid.x
barrier seq_cst
for c in 0..told[2] {
    out[gid.x * told[2] + c] = t[15u32 - lid.x]
}
// expect: unchanged
