program workgroup(1, 5, 1)

buffer out0: read_write f16[15] @0 output live_out
buffer in1: read_only f16[31] @1
buffer soft2: read_write f16[15] @2 output live_out
buffer count3: read_write u32[16] @3 output live_out
buffer own4: read_write u32[15] @4
buffer tile5: workgroup f16[5]
buffer copied6: read_write f16[15] @5 output live_out
buffer tally7: workgroup u32[5]
buffer mine8: local vec2<u32>[1]

region "vyre.program.root" {
    let invocation = gid.x + gid.y * (num_workgroups.x * 1u32)
    let v1 = u16(in1[invocation + 0u32])
    if bool(in1[2863311530u32 % 31u32]) {
        mine8[invocation] = vec2<u32>(reverse_bits(gid.x), u32(31u16))
        v1 = ctz(byte_swap((v1 - v1) % v1))
        let v2 = atomic_and(own4[invocation], invocation)
        v1 = select(bool(out0[invocation]), u16(lane(mine8[0], 1)), v1 * max(min(v1, v1), u16(in1[2])))
    } else {
        v1 = v1
        for v2 in 4294967293..4294967295 {
            v1 = select(true, 3u16 % popcount(v1) - rotr(clz(v1), mul_hi(v1, v1)), lane(vec2<u16>(u16(bool(out0[u16(invocation)])), 4u16 % u16(lane(mine8[invocation + 0u32], 1))), 0))
            v1 = clz(v1)
            mine8[invocation + 0u32] = vec2<u32>(v2, (u32(in1[invocation % 31u32]) | invocation) % (num_workgroups.z ^ invocation))
            v1 = ctz(u16(in1[invocation])) * sub_sat(sub_sat(u16(out0[invocation]), v1 >> v1), lane(vec3<u16>(v1, 8192u16, v1), 1))
        }
        mine8[invocation % 1u32] = vec2<u32>((num_workgroups.z % wid.x) | -u32(out0[invocation]), ~select(bool(lane(mine8[v1], 1)), invocation, invocation))
        let v2 = v1
    }
    for v2 in 0..0u32 % 4u32 {
        v1 = rotr(u16(select(bool(in1[invocation % 31u32]), u32(bool(lane(mine8[v2 % 1u32], 1))), u32(f16(lane(mine8[0], 0))))), u16(max(out0[invocation], in1[invocation + 1u32]) + 0.0f16 > 1.75f16))
        let v3 = atomic_xor(own4[invocation], select(is_inf(in1[u32(bool(out0[invocation])) % 31u32]), lane(vec3<u32>(2147483647u32, v2, v2), 1), clz(lane(mine8[invocation], 1))), acquire)
        if bool(f16(lane(mine8[invocation], 1))) {
            tile5[lid.x + lid.y * 1u32] = f16(max(u16(lane(mine8[invocation + 0u32], 0)), v1))
        }
        barrier acquire
        mine8[invocation % 1u32] = vec2<u32>(mul_hi(ctz(v2), bitcast<u32>(1344887272u32)), popcount(3u32 & v2))
        tally7[lid.x + lid.y * 1u32] = bitcast<u32>(min(-v3, lane(vec2<u32>(u32(out0[invocation]), u32(out0[invocation])), 1)))
        barrier seq_cst
        eval atomic_add(tally7[invocation], rotl(v3, u32(tile5[invocation % 5u32])) / bitcast<u32>(invocation))
        barrier acquire
        out0[invocation] = f16(v2 | 1u32)
        let v4 = min(bitcast<u16>(select(tile5[v3 % 5u32] == tile5[v3 % 5u32], tile5[v3 % 5u32], 1.5f16)), 32769u16)
        for v5 in 1..wid.z % 4u32 {
            if bool(out0[invocation]) {
                eval atomic_and(count3[v2], select(bool(in1[invocation + 0u32]), 3544258531u32, len(soft2)) >> u32(v4), acq_rel)
                out0[invocation] = in1[invocation] * f16(gid.z) / f16(bool(tally7[invocation + 2u32]))
                let v6 = atomic_or(own4[invocation], tally7[invocation + 2u32], seq_cst)
                eval atomic_and(count3[invocation % 16u32], lane(vec2<u32>(v3, tally7[v2 % 5u32]), 1) >> -v5, release)
            } else {
                eval atomic_and(count3[u32(in1[27]) % 16u32], (tally7[select(bool(tally7[v3 % 5u32]), v2, v5) % 5u32] << invocation) / v2, release)
                v3 = bitcast<u32>(select(bool(v2 % tally7[bitcast<u32>(v5)]), v5, min(tally7[bitcast<u32>(tally7[v3 % 5u32]) % 5u32], tally7[1])))
            }
            let v6 = (-v2 < u32(select(bool(in1[invocation]), bool(tally7[min(tally7[invocation], v5) % 5u32]), bool(in1[invocation])))) & bool(select(select(false, bool(lane(mine8[invocation + 2u32], 0)), bool(in1[3])), fma(tile5[328094806u32 * v5 % 5u32], tile5[lid.x + lid.y * 1u32], inf_f16), min(tile5[gid.x % 5u32], out0[invocation]) + 0.0f16))
            v1 = add_sat(v4, ~v4)
        }
        barrier seq_cst
        barrier release
        let v5 = 3u32
        while v5 > 0u32 {
            v5 = v5 - 1u32
            let v6 = 3u32
            while (v6 > 0u32) & true {
                v6 = v6 - 1u32
                let v7 = abs(select(false, lane(vec3<u16>(43690u16, 8u16, 65534u16), 2), select(select(bool(lane(mine8[invocation + 3u32], 1)), bool(lane(mine8[0], 1)), bool(out0[invocation])), v1, u16(bool(out0[invocation])))))
            }
        }
    }
    out0[invocation] = bitcast<f16>(bitcast<u16>(bitcast<u16>(select(out0[invocation] == out0[invocation], out0[invocation], 1.5f16)) % v1))
    let v2 = v1
    let v3 = f16(add_sat(v2, select(446932125u32 >= lane(mine8[v2], 1), 127u16, v2 << v1)))
    eval atomic_and(count3[invocation + 3u32], max(u32(in1[select(bool(lane(mine8[0], 1)), invocation, 3u32) % 31u32]) >> len(soft2), invocation + lane(mine8[invocation % 1u32], 1)))
    for v4 in 0u16..3u16 {
        out0[invocation] = bitcast<f16>(select(v3 == v3, v3, 1.5f16)) + v3
        if is_inf(copysign(6.55e+04f16, select(-6.55e+04f16 == -6.55e+04f16, -6.55e+04f16, 1.5f16))) {
            if bool(out0[invocation]) {
                v2 = popcount(max(v2, v1 / v2)) * v1
                let v5 = select((~bool(out0[invocation]) != is_finite(v3)) ^ ((bool(lane(mine8[v1], 1)) == bool(out0[invocation])) == is_finite(v3)), invocation, rotl(add_sat(gid.z, invocation), lid.x + lid.y * 1u32) >> sub_sat(sub_sat(invocation, invocation), select(true, lane(mine8[invocation % 1u32], 0), invocation)))
                v2 = max(add_sat(max(u16(in1[invocation % 31u32]) & 42578u16, u16(in1[(lid.x + lid.y * 1u32) % 31u32])), lane(vec2<u16>(u16(lane(mine8[lid.z % 1u32], 1)), u16(out0[invocation])), 0)), v1)
            }
            let v5 = atomic_exchange(own4[invocation], sub_sat(u32(out0[invocation]), reverse_bits(invocation)))
            let v6 = atomic_min(own4[invocation], u32(out0[u16(invocation)]), acq_rel)
            for v7 in 0u16..1u16 {
                eval atomic_and(count3[v6 % 16u32], (v5 & u32(in1[v4])) ^ select(bool(lane(mine8[invocation], 1)), v5, v5))
                soft2[invocation] = asin(min(max(0.776f16, -1.0f16), 1.0f16))
                out0[invocation] = 0.0f16
                v5 = v5 >> popcount(u32(u16(in1[invocation % 31u32])))
            }
        } else {
            if lane(vec3<u16>(v1 >> v4, min(u16(lane(mine8[invocation % 1u32], 0)), u16(in1[rotr(invocation, invocation) % 31u32])), v4 << u16(lane(mine8[invocation + 0u32], 1))), 2) < u16(f16(invocation) - v3) {
                v2 = v2
                v3 = bitcast<f16>(select(v3 == v3, v3, 1.5f16))
                let v5 = atomic_sub(own4[invocation], byte_swap(lane(mine8[invocation % 1u32], 0) - invocation), acquire)
                v1 = select(v1 % v2 == u16(u32(out0[invocation])), u16(in1[4]), v2 * 65533u16 % rotl(32768u16, 7u16)) ^ u16(u16(v3) > rotr(u16(out0[invocation]), v4))
            } else {
                let v5 = max(-out0[invocation] / (min(nan_f16 - v3, out0[invocation] / in1[invocation + 3u32]) + 0.0f16), 134.0f16) + 0.0f16
                let v6 = bitcast<u16>(select(v3 == v3, v3, 1.5f16))
                out0[invocation] = select(rotr(select(bool(in1[len(mine8)]), lane(mine8[invocation % 1u32], 0), invocation), lane(vec3<u32>(u32(out0[invocation]), u32(out0[invocation]), 1025u32), 2)) >= -invocation, select(bool(lane(vec2<f16>(167.8f16, v3), 0)), select(bool(in1[v4]), out0[invocation], -256.2f16), bitcast<f16>(select(-3.5f16 == -3.5f16, -3.5f16, 1.5f16))), in1[invocation + 1u32])
            }
            let v5 = abs(rotr(add_sat(2u16, v1) * v1, v2 ^ (v4 * v4)))
        }
        let v5 = is_inf(bitcast<f16>(select(bool(lane(mine8[num_workgroups.z % 1u32], 0)) ^ bool(lane(mine8[invocation], 1)), max(v2, v2), v4 / 46455u16)))
        let v6 = abs(bitcast<f16>(lane(vec4<u16>(u16(in1[25]), v1, v4, v1), 3)))
    }
    soft2[invocation] = cos(min(max(v3, -3.0f16), 3.0f16))
    if 2u32 < num_workgroups.x {}
    v2 = u16(bool(round_even(3.5f16)) & ((f16(lane(mine8[select(bool(in1[v1]), v1, 32767u16)], 1)) <= -4.25f16) & false))
    if ~~(u16(in1[invocation % 31u32]) > u16(lane(mine8[63u16 + 4u16], 0))) == bool(in1[invocation]) {
        eval atomic_compare_exchange(own4[invocation], invocation, expected = ctz(5u32), acquire)
        region "random.2" {
            let v4 = lane(vec2<u16>(u16(in1[invocation]), 6u16 & (8u16 & u16(out0[invocation]))), 1)
            let v5 = select(-select(bool(lane(mine8[abs(v4)], 1)), invocation, invocation) == lane(mine8[invocation % 1u32], 1) / lane(mine8[0], 1) % (invocation * u32(out0[invocation])), max(invocation, ~invocation) % u32(in1[invocation]), invocation)
            out0[invocation] = out0[invocation] + bitcast<f16>(select(v3 == v3, v3, 1.5f16)) * floor(copysign(v3, select(out0[u16(invocation)] == out0[u16(invocation)], out0[u16(invocation)], 1.5f16)))
        }
        v1 = ~sub_sat(v1, u16(invocation | lane(mine8[invocation], 0)))
        for v4 in 0..select(bool(lane(mine8[invocation], 0)), invocation, u32(in1[invocation + 2u32])) % 5u32 {
            if bool(out0[invocation]) {
                break
            }
            let v5 = bitcast<f16>(u16(bool(v3))) - fma((max(in1[invocation], v3) + 0.0f16) / v3, max(in1[lid.z % 31u32] + v3, trunc(v3)) + 0.0f16, (max(4.5f16, v3) + 0.0f16) * (min(-4.25f16, out0[invocation]) + 0.0f16))
        }
    }
    let v4 = is_finite(v3)
    let v5 = sub_sat(select(is_inf(select(bool(lane(mine8[wid.z % 1u32], 1)), f16(lane(mine8[invocation % 1u32], 0)), v3)), invocation, u32(out0[u16(invocation)])), u32(~bool(lane(mine8[u16(in1[bitcast<u32>(len(mine8)) % 31u32])], 1)) | (v4 ^ v4)))
    let v6 = atomic_max(own4[invocation], select(bool(in1[invocation]), 1u32, v5) / gid.x, release)
    let v7 = 2u32
    while v7 > 0u32 {
        v7 = v7 - 1u32
        mine8[0] = vec2<u32>(rotl(u32(out0[invocation]), len(own4)) % ~u32(in1[invocation]), clz(rotl(1u32, v5)))
        v2 = select(~(u16(in1[22]) != u16(lane(mine8[invocation + 1u32], 0))) & v4, clz(bitcast<u16>(select(-4.25f16 == -4.25f16, -4.25f16, 1.5f16))), lane(vec2<u16>(256u16 & u16(lane(mine8[invocation], 0)), u16(v3)), 0))
    }
    out0[invocation] = v3
}
