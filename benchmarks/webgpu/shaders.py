"""The same elementwise work as a program of vyre and as WGSL written by hand.

Each element becomes `a ^ a >> 3` with `a = x * 3 + 1`. WGSL has 32-bit integers only: by hand,
bytes and halves are cut out of words and put back with atomics, as neighbours share a word, and
64-bit numbers are pairs.
"""

WORKGROUP = 256

PROGRAM = """\
program workgroup(256, 1, 1)

buffer x: read_only {type}[] @0
buffer y: read_write {type}[] @1

region "map" {{
    let i = gid.x
    if i < len(y) {{
        let a = x[i] * 3{type} + 1{type}
        y[i] = a ^ a >> 3{type}
    }}
}}
"""

ONE = """\
program workgroup(1, 1, 1)

buffer x: read_write u32[1] @0

x[gid.x] = x[gid.x] + 1u32
"""

ONE_BY_HAND = """\
@group(0) @binding(0) var<storage, read_write> x: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    x[id.x] = x[id.x] + 1u;
}
"""

_NATIVE = """\
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= arrayLength(&y)) { return; }
    let a = x[i] * 3u + 1u;
    y[i] = a ^ (a >> 3u);
}
"""

_PACKED = """\
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<atomic<u32>>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.x;
    if (i >= arrayLength(&y) * {per_word}u) {{ return; }}
    let shift = (i % {per_word}u) * {bits}u;
    let value = (x[i / {per_word}u] >> shift) & {mask};
    let a = (value * 3u + 1u) & {mask};
    let made = a ^ (a >> 3u);
    atomicAnd(&y[i / {per_word}u], ~({mask} << shift));
    atomicOr(&y[i / {per_word}u], made << shift);
}}
"""

_PAIRS = """\
@group(0) @binding(0) var<storage, read> x: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec2<u32>>;

fn times3plus1(v: vec2<u32>) -> vec2<u32> {
    // v + 2v + 1, each sum with its carry.
    let twice = vec2<u32>(v.x << 1u, (v.y << 1u) | (v.x >> 31u));
    let low = v.x + twice.x;
    let high = v.y + twice.y + select(0u, 1u, low < v.x);
    return vec2<u32>(low + 1u, high + select(0u, 1u, low == 0xffffffffu));
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= arrayLength(&y)) { return; }
    let a = times3plus1(x[i]);
    y[i] = a ^ vec2<u32>((a.x >> 3u) | (a.y << 29u), a.y >> 3u);
}
"""

BY_HAND = {
    "u32": _NATIVE,
    "u8": _PACKED.format(per_word=4, bits=8, mask="0xffu"),
    "u16": _PACKED.format(per_word=2, bits=16, mask="0xffffu"),
    "u64": _PAIRS,
}
