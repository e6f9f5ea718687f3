// test: opt merge_regions
//
// Neighbours of one origin.

// case: two of a kind
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "stage" {
    let x = gid.x
    out[0] = x
}
region "stage" {
    let x = gid.x + 1u32
    out[1] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "stage" {
    let x_1 = gid.x
    out[0] = x_1
    let x = gid.x + 1u32
    out[1] = x
}

// case: of different origin
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "stage" {
    out[0] = 1u32
}
region "stage" from "elsewhere" {
    out[1] = 1u32
}
// expect: unchanged

// case: a barrier between
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "stage" {
    out[0] = 1u32
}
barrier seq_cst
region "stage" {
    out[1] = 1u32
}
// expect: unchanged
