// test: check
//
// Accesses, indices, atomics.

// case: access modes
program workgroup(64, 1, 1)

buffer ro: read_only u32[] @0
buffer wo: write_only u32[] @1
buffer un: uniform u32[4] @2
buffer rw: read_write u32[] @3
buffer tile: workgroup u32[4]
buffer own: local u32[4]
buffer tmp: scratch u32[4]

rw[0] = ro[0] + un[0] + tile[0] + own[0] + tmp[0]
tile[0] = 1u32
own[0] = 1u32
tmp[0] = 1u32
wo[0] = 1u32
ro[0] = 1u32  //~ V011
un[0] = 1u32  //~ V011
let x = wo[0]  //~ V010
eval atomic_add(rw[0], 1u32)
eval atomic_add(tile[0], 1u32)
eval atomic_add(tmp[0], 1u32)
eval atomic_add(own[0], 1u32)  //~ V012
eval atomic_add(wo[0], 1u32)  //~ V012
eval atomic_add(un[0], 1u32)  //~ V012

// case: constant indices
program workgroup(64, 1, 1)

buffer four: read_write u32[4] @0
buffer any: read_write u32[] @1

four[3] = four[4]  //~ V013
four[4] = 1u32  //~ V013
four[-1i32] = 1u32  //~ V013
any[4000] = 1u32
any[-1i64] = 1u32  //~ V013
eval atomic_max(four[7], 1u32)  //~ V013
four[gid.x + 9u32] = 1u32

// case: a literal zero divisor
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

let x = gid.x / 0u32  //~ V014
let y = gid.x % 0u32  //~ V014
let z = 1.0f32 / 0.0f32
let w = gid.x / (gid.x - gid.x)

// case: storage-only elements are loaded and stored as numbers
program workgroup(64, 1, 1)

buffer b: read_write bytes[] @0
buffer f: read_write f8e4m3[] @1
buffer i: read_write i4[] @2

b[0] = b[1] + 1u8
f[0] = f[1] + 1.0f32
i[0] = i[1] + 1i32
i[0] = 1u8  //~ V108

// case: every operand of a store is checked
program workgroup(64, 1, 1)

buffer ro: read_only u32[] @0

ro[1.0f32] = 1i32  //~ V011 V104 V108
nowhere[0] = 1i32 + 1u32  //~ V002 V101
