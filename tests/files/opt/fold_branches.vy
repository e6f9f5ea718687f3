// test: opt fold_branches
//
// Branches whose way is known, and what is never reached.

// case: a true condition
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if true {
    out[0] = 1u32
} else {
    out[0] = 2u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

{
    out[0] = 1u32
}

// case: a false condition without an else
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if false {
    out[0] = 1u32
}
out[1] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[1] = 2u32

// case: an empty then
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 4u32 {
} else {
    out[0] = 2u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if ~(gid.x < 4u32) {
    out[0] = 2u32
}

// case: arms that are the same keep an atomic of the condition
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

if atomic_add(h[0], 1u32) == 0u32 {
    h[1] = 1u32
} else {
    h[1] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

eval atomic_add(h[0], 1u32) == 0u32
{
    h[1] = 1u32
}

// case: what follows a return
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32
return
out[1] = 2u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32
return

// case: a while that never starts
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

while false {
    out[0] = 1u32
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

// case: an unknown condition
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if a[0] < 4u32 {
    out[0] = 1u32
}
// expect: unchanged

// case: a copy that is waited for elsewhere stays
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1
buffer tile: workgroup u32[64]

if false {
    async_load "t" tile[0] <- a[0], 64
}
async_wait "t"
out[lid.x] = tile[lid.x]
// expect: unchanged

// case: a trap that is resumed elsewhere stays
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0

if false {
    trap "again"
}
resume "again"
out[lid.x] = 1u32
// expect: unchanged

// case: workgroup memory that a grid sync loses
program workgroup(64, 1, 1)

buffer out: read_write u32[64] @0
buffer tile: workgroup u32[64]

barrier grid_sync
if false {
    tile[lid.x] = 1u32
}
out[lid.x] = tile[lid.x]
// expect: unchanged

// case: what a trap that stays reads stays, and nothing behind it
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32
return
let step = a[0]
if step == 0u32 {
    trap "no step"
}
out[1] = step
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[0] = 1u32
return
let step = a[0]
if step == 0u32 {
    trap "no step"
}
