// test: cpu structure_returns
//
// Early returns become branches: what follows them is their else.

// case: a guard
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

if gid.x >= told[0] {
    return
}
out[gid.x] = gid.x
// expect:
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

if gid.x >= told[0] {} else {
    out[gid.x] = gid.x
}

// case: work before the return, and two of them
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

region "r" {
    let i = gid.x
    if i >= told[0] {
        out[i] = 1u32
        return
    }
    let x = told[1]
    if x > i {
        out[i] = x
        return
    }
    out[i] = i
}
// expect:
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

region "r" {
    let i = gid.x
    if i >= told[0] {
        out[i] = 1u32
    } else {
        let x = told[1]
        if x > i {
            out[i] = x
        } else {
            out[i] = i
        }
    }
}

// case: nested returns
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

if gid.x >= told[0] {
    if gid.x > told[1] {
        return
    }
    out[gid.x] = 1u32
    return
}
out[gid.x] = 2u32
return
out[gid.x] = 3u32
// expect:
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

if gid.x >= told[0] {
    if gid.x > told[1] {} else {
        out[gid.x] = 1u32
    }
} else {
    out[gid.x] = 2u32
}

// case: after the last barrier
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1
buffer t: workgroup u32[64]

t[lid.x] = told[0]
barrier seq_cst
if lid.x >= told[1] {
    return
}
out[gid.x] = t[63u32 - lid.x]
// expect:
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1
buffer t: workgroup u32[64]

t[lid.x] = told[0]
barrier seq_cst
if lid.x >= told[1] {} else {
    out[gid.x] = t[63u32 - lid.x]
}

// case: before a barrier
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1
buffer t: workgroup u32[64]

if told[0] > 100u32 {
    return
}
t[lid.x] = lid.x
barrier seq_cst
out[gid.x] = t[63u32 - lid.x]
// expect: unchanged

// case: in a loop, and in a branch that is followed by work
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

for k in 0..told[2] {
    if k > gid.x {
        return
    }
    out[gid.x] = k
}
if gid.x > 3u32 {
    if gid.x > told[3] {
        return
    }
    out[gid.x] = 5u32
}
out[gid.x + 128u32] = 6u32
// expect: unchanged

// case: a return with an else
program workgroup(64, 1, 1)

buffer told: read_only u32[4] @0
buffer out: read_write u32[] @1

if gid.x > told[0] {
    return
} else {
    out[gid.x] = 1u32
}
out[gid.x + 128u32] = 6u32
// expect: unchanged
