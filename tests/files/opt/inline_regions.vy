// test: opt inline_regions
//
// Blocks and nested regions become plain statements; names are kept apart.

// case: a block
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let x = gid.x
    out[x] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x
out[x] = 1u32

// case: two blocks that use one name
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let x = gid.x
    out[x] = 1u32
}
{
    let x = gid.x + 1u32
    x = x * 2u32
    out[x] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x_1 = gid.x
out[x_1] = 1u32
let x = gid.x + 1u32
x = x * 2u32
out[x] = x

// case: a name that a later scope binds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let x = gid.x
    out[x] = 1u32
}
for x in 0u32..4u32 {
    out[x] = 2u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x_1 = gid.x
out[x_1] = 1u32
for x in 0..4 {
    out[x] = 2u32
}

// case: a nested region, and the top one stays
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "top" {
    region "inner" from "somewhere" {
        out[0] = 1u32
    }
    out[1] = 2u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "top" {
    out[0] = 1u32
    out[1] = 2u32
}

// case: regions at the top
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

region "one" {
    out[0] = 1u32
}
region "two" {
    out[1] = 1u32
}
// expect: unchanged
