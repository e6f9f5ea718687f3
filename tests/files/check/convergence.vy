// test: check
//
// What a workgroup does together must be reached by all of it together.

// case: the usual shapes are sound
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer n: uniform u32[1] @1
buffer out: read_write u32[] @2
buffer tile: workgroup u32[64]

if wid.x >= n[0] {
    return
}
for t in 0u32..n[0] {
    tile[lid.x] = a[t * 64u32 + lid.x]
    barrier seq_cst
    if gid.x >= len(out) {
        out[0] = 1u32
    } else {
        out[gid.x] = out[gid.x] + tile[63u32 - lid.x]
    }
    barrier seq_cst
    if lid.x > t {
        continue
    }
    out[gid.x] = 1u32
}
let s = 32u32
while s > 0u32 {
    if lid.x < s {
        tile[lid.x] = tile[lid.x] + tile[lid.x + s]
    }
    barrier seq_cst
    s = s / 2u32
}
let total = subgroup_add(tile[lid.x])
if lid.x != 0u32 {
    return
}
out[wid.x] = total

// case: barriers in divergent flow
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0
buffer tile: workgroup u32[64]

if lid.x < 3u32 {
    barrier seq_cst  //~ V301
}
if out[0] < 3u32 {
    barrier seq_cst  //~ V301
}
if tile[0] < 3u32 {
    barrier seq_cst  //~ V301
}
while gid.x < 4u32 {
    barrier seq_cst  //~ V301
}
let once = 0u32
if lid.x == 1u32 {
    once = 1u32
}
if once == 1u32 {
    barrier seq_cst  //~ V301
}
let ticket = atomic_add(out[0], 1u32)
for k in 0u32..ticket {
    barrier seq_cst  //~ V301
}

// case: barriers that some never reach
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

for k in 0u32..4u32 {
    if lid.x == k {
        continue
    }
    barrier seq_cst  //~ V302
}
for k in 0u32..4u32 {
    if lid.x == k {
        break
    }
    barrier seq_cst  //~ V301
}
if gid.x >= len(out) {
    return
}
barrier seq_cst  //~ V302

// case: the message names the condition, and where the difference comes from
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

let i = gid.x
if i < len(out) {
    if wid.x < 2u32 {
        barrier seq_cst  //~ V301
    }
}
// expect:
error[V301]: some invocations of a workgroup may miss this barrier, because whether they go there depends on gid.x
  --> <text>:8:9 (entry[1].then[0].then[0])
  8 |         barrier seq_cst
    |         ^^^^^^^^^^^^^^^
  also <text>:6:1 (entry[1])
  6 | if i < len(out) {
    | ^^^^^^^^^^^^^^^^^
  fix: move it out, so that the whole workgroup reaches it, and guard only the work around it

// case: subgroup operations, also in conditions
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if subgroup_add(lid.x) < 3u32 {
    out[0] = shuffle(lid.x, 1)  //~ V303
}
let x = lid.x
while lane(ballot(x > 0u32), 0) != 0u32 {  //~ V303
    x = x - 1u32
}
for k in 0u32..subgroup_max(3u32) {
    out[k] = 1u32
}

// case: one invocation agrees with itself
program workgroup(1, 1, 1)

buffer out: read_write u32[] @0

if out[0] < 3u32 {
    barrier seq_cst
}

// case: relaxed barriers
program workgroup(64, 1, 1)

barrier relaxed  //~ V305
barrier acquire
