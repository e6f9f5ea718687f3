// test: parse
//
// How programs are laid out, and what is read leniently.

// case: as it is printed
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

region "vyre.program.root" {
    let i = gid.x
    if i < len(a) {
        out[i] = a[i] + 1u32
    }
}
// expect: unchanged

// case: no blanks, no line ends, semicolons
program workgroup(1,1,1)buffer a:read_write u32[]@0 let x=a[0]+1;a[x]=x*(x+x)<<1
// expect:
program workgroup(1, 1, 1)

buffer a: read_write u32[] @0

let x = a[0] + 1u32
a[x] = (x * (x + x)) << 1u32

// case: else if chains stay flat
program workgroup(1, 1, 1)

if a {
    return
} else if b {
    return
} else {
    if c {
        return
    }
    return
}
// expect: unchanged

// case: an if alone in an else is an else if
program workgroup(1, 1, 1)
if a { } else { if b { return } }
// expect:
program workgroup(1, 1, 1)

if a {} else if b {
    return
}

// case: names that are words stand in backquotes
program workgroup(1, 1, 1)

buffer `let`: read_write u32[] @0

let `gid.x` = `let`[`true`]
`if` = `x..y` + `x.`
`let`[0] = a.b.c
// expect: unchanged

// case: numbers
program workgroup(1, 1, 1)

eval 18446744073709551615u64
eval -128i8
eval -(128u8)
eval 0.1f32
eval 1e-45f32
eval 5e-324f64
eval 6.55e+04f16
eval -0.0bf16
eval -inf_f64
eval nan_f16
eval bits(0x7fc00001, f32)
// expect: unchanged

// case: every buffer
program workgroup(8, 8, 1) op "an id with \"quotes\"" fast_math

buffer a: read_only vec4<f32>[16] @0 in persistent
buffer b: uniform f32[4] @1
buffer c: read_write bf16[] @2 live_out initial
buffer d: write_only array<12>[] @3
buffer e: read_write tensor<f32, 2, 3>[] @4
buffer tile: workgroup u8[256]
buffer tmp: scratch u64[7]
buffer mine: local bool[3]
buffer hinted: read_only u32[] @5 hints(axis=1, align=128, streaming)
// expect: unchanged

// case: statements of every kind
program workgroup(1, 1, 1)

indirect_dispatch counts[3]
region "g" from "s" {
    {
        x = 1u32
    }
    for k in 0..n {
        while true {
            break
            continue
        }
    }
    barrier acq_rel
    barrier grid_sync
    async_load "t" tile[0] <- a[i], 64
    async_store "t" a[i] <- tile[0], n
    async_wait "t"
    trap "no"
    resume "no"
    print "values", x, y + 1u32
}
all_reduce add a
all_gather a -> b
reduce_scatter max a -> b
broadcast a from 1
opaque vendor.thing hex"00ff" (x, y)
// expect: unchanged

// case: expressions of every kind
program workgroup(1, 1, 1)

eval select(a < b, min(a, b), fma(a, b, c))
eval u32(x) + bitcast<u32>(y) + lane(vec2<u32>(a, b), 1)
eval atomic_compare_exchange(h[i], new, expected = old, seq_cst)
eval lane(ballot(x), 0) + shuffle(x, 3) + subgroup_max(x)
eval (gid.x + lid.y * num_workgroups.z) ^ (wid.x | subgroup_lane)
eval ~(a & b) == -c
eval (a << 1u32) + (b >> 2u32)
// expect: unchanged
