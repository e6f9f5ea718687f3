// test: opt elide_bounds
//
// What integer ranges decide.

// case: a guard inside a guard
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 64u32 {
    if gid.x < 100u32 {
        out[gid.x] = 1u32
    }
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < 64u32 {
    if true {
        out[gid.x] = 1u32
    }
}

// case: a clamp that never acts
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[min(lid.x, 63u32)] = max(gid.x, 0u32)
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = max(gid.x, 0u32)

// case: a mask and a remainder that keep everything
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x & 63u32] = lid.x % 64u32
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

out[lid.x] = lid.x

// case: lengths
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < len(a) {
    let i = gid.x
    if i >= len(a) {
        return
    }
    out[lid.x] = a[i]
}
// expect:
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

if gid.x < len(a) {
    let i = gid.x
    if false {
        return
    }
    out[lid.x] = a[i]
}

// case: an atomic in a comparison is kept
program workgroup(64, 1, 1)

buffer h: read_write u32[4] @0

if (atomic_add(h[0], 1u32) & 3u32) < 4u32 {
    h[1] = 1u32
}
// expect: unchanged

// case: after an assignment the guard is void
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let i = gid.x
if i < 64u32 {
    i = i + 1u32
    if i < 64u32 {
        out[i] = 1u32
    }
}
// expect: unchanged
