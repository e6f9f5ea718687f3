// For devices with 64-bit integers of their own, an extension of naga: used by atomics alone.

fn native_from_pair(a: vec2<u32>) -> u64 {
    return (u64(a.y) << 32u) | u64(a.x);
}

fn pair_from_native(a: u64) -> vec2<u32> {
    return vec2<u32>(u32(a), u32(a >> 32u));
}
