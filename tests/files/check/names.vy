// test: check
//
// Names and scopes.

// case: a sound program
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

let i = gid.x
if i < len(a) {
    let x = a[i]
    out[i] = x
} else {
    let x = 2u32
    out[i] = x
}
for k in 0u32..4u32 {
    let x = k
    out[k] = x
}
for k in 0u32..4u32 {
    out[k] = k
}

// case: every use of an unknown name is reported, and what rests on it is not
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

let x = y + 1u32  //~ V001
let z = (x * 2i32) & x
out[0] = x
out[1] = y  //~ V001
out[y] = 1.0f32  //~ V001 V108

// case: a variable ends with its scope
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if gid.x < 3u32 {
    let x = 1u32
}
out[0] = x  //~ V001
for k in 0u32..3u32 {
    out[k] = k
}
out[1] = k  //~ V001
{
    let x = 2u32
    out[2] = x
}

// case: the bounds of a loop do not see its variable
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

for k in 0u32..k {  //~ V001
    out[k] = k
}

// case: a name is bound once among the visible scopes
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

let x = 1u32
let x = 2u32  //~ V003
for x in 0u32..3u32 {  //~ V004
    let y = x
    if y < 2u32 {
        let y = 3u32  //~ V004
    }
}
out[0] = x

// case: loop variables do not change
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

for k in 0u32..3u32 {
    k = 1u32  //~ V006
}
nothing = 1u32  //~ V005
let out = 1u32  //~ V007

// case: an assignment keeps the type
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

let x = 1u32
x = 1i32  //~ V108
x = x + 1u32
out[0] = x

// case: break and continue need a loop of their own function
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if gid.x < 3u32 {
    continue  //~ V008
}
while gid.x > 900u32 {
    if gid.x < 3u32 {
        break
    }
}
break  //~ V008

// case: what follows a certain exit is never reached, and said once
program workgroup(64, 1, 1)

buffer out: read_write u32[] @0

if gid.x < 3u32 {
    return
    out[0] = 1u32  //~ V009
    out[1] = 1u32
}
if gid.x < 3u32 {
    return
} else {
    return
}
out[0] = 1u32  //~ V009
