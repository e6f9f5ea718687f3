// test: opt unroll
//
// A few rounds, written out.

// case: four rounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..4u32 {
    let x = a[i]
    out[i] = x
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let x = a[0]
    out[0] = x
}
{
    let x = a[1]
    out[1] = x
}
{
    let x = a[2]
    out[2] = x
}
{
    let x = a[3]
    out[3] = x
}

// case: signed bounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in -1i32..1i32 {
    out[0] = u32(i)
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    out[0] = u32(-1i32)
}
{
    out[0] = u32(0i32)
}

// case: an index that a round would put out of bounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 62u32..66u32 {
    out[i] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    out[62] = 1u32
}
{
    out[63] = 1u32
}
{}
{}

// case: a break
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..4u32 {
    if a[i] == 0u32 {
        break
    }
    out[i] = 1u32
}
// expect: unchanged

// case: a break of an inner loop
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..2u32 {
    while a[i] == 0u32 {
        break
    }
    out[i] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    while a[0] == 0u32 {
        break
    }
    out[0] = 1u32
}
{
    while a[1] == 0u32 {
        break
    }
    out[1] = 1u32
}

// case: too many rounds
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..100u32 {
    out[i] = 1u32
}
// expect: unchanged

// case: bounds that are not literals
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..a[0] {
    out[i] = 1u32
}
// expect: unchanged

// case: a counter of two axes
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

for i in 0u32..9u32 {
    let x = a[i / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    let x = a[0u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[1u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[2u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[3u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[4u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[5u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[6u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[7u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
{
    let x = a[8u32 / 3u32]
    let y = a[gid.x]
    out[0] = x + y
}
