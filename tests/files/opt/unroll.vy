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

// case: more rounds where a private array needs no memory without the loop
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[9]

for i in 0u32..9u32 {
    let x = a[gid.x + i]
    mine[i] = x
}
out[gid.x] = max(mine[0], mine[8])
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[9]

{
    let x = a[gid.x + 0u32]
    mine[0] = x
}
{
    let x = a[gid.x + 1u32]
    mine[1] = x
}
{
    let x = a[gid.x + 2u32]
    mine[2] = x
}
{
    let x = a[gid.x + 3u32]
    mine[3] = x
}
{
    let x = a[gid.x + 4u32]
    mine[4] = x
}
{
    let x = a[gid.x + 5u32]
    mine[5] = x
}
{
    let x = a[gid.x + 6u32]
    mine[6] = x
}
{
    let x = a[gid.x + 7u32]
    mine[7] = x
}
{
    let x = a[gid.x + 8u32]
    mine[8] = x
}
out[gid.x] = max(mine[0], mine[8])

// case: not if another index keeps the array in memory
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[9]

for i in 0u32..9u32 {
    mine[i] = a[gid.x + i]
}
out[gid.x] = max(mine[0], mine[gid.x % 9u32])
// expect: unchanged

// case: not if another loop over the array is too long
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer mine: local u32[20]

for i in 0u32..9u32 {
    mine[i] = a[gid.x + i]
}
for i in 0u32..20u32 {
    out[i] = mine[i]
}
// expect: unchanged
