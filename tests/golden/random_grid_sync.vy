program workgroup(33, 1, 1)

buffer out0: read_write f8e5m2[] @0
buffer out1: read_write f8e4m3[66] @1 live_out initial
buffer in2: read_only bool[11] @2
buffer soft3: read_write f16[66] @3 output live_out
buffer count4: read_write u32[16] @4 output live_out
buffer own5: read_write u32[66] @5
buffer tile6: workgroup f8e4m3[33]
buffer tile7: workgroup f16[36]
buffer copied8: read_write f16[66] @6 output live_out
buffer tally9: workgroup u32[33]
buffer relay10: read_write bool[66] @7 output live_out
buffer mine11: local fp4[3]

region "vyre.program.root" {
    let invocation = gid.x
    for v1 in 0..-u32(mine11[len(soft3) % 3u32]) % 5u32 {
        out1[invocation] = f32(bitcast<f16>(select(f16(in2[invocation + 1u32]) == f16(in2[invocation + 1u32]), f16(in2[invocation + 1u32]), 1.5f16)) + f16(in2[invocation % 11u32]))
        mine11[v1 % 3u32] = f32(fma(lane(vec2<f16>(select(in2[invocation], f16(mine11[(v1 | invocation) % 3u32]), f16(out0[invocation * 3u32 + 1u32])), min(f16(mine11[invocation]), f16(out0[invocation * 3u32 + 1u32])) + 0.0f16), 0), fma(copysign(f16(mine11[v1 % 3u32]), select(f16(mine11[invocation]) == f16(mine11[invocation]), f16(mine11[invocation]), 1.5f16)), f16(u32(in2[select(bool(out1[invocation]), invocation, 2147483648u32)])), sqrt(fma(f16(in2[reverse_bits(invocation) % 11u32]), 0.00405f16, -3.5f16))), bitcast<f16>(select(f16(out1[invocation]) == f16(out1[invocation]), f16(out1[invocation]), 1.5f16)) - (max(f16(in2[invocation]), f16(invocation)) + 0.0f16)))
        if select(bool(byte_swap(min(u32(in2[num_workgroups.y % 11u32]), invocation))), bitcast<f16>(select(f16(out1[invocation]) == f16(out1[invocation]), f16(out1[invocation]), 1.5f16)) < select(in2[invocation % 11u32] ^ false, abs(f16(out0[invocation * 3u32 + 1u32])), max(f16(mine11[v1 % 3u32]), -inf_f16) + 0.0f16), in2[invocation + 3u32]) {
            for v2 in 0..3 {
                let v3 = -4.75f16 + f16(mine11[1]) == inf_f16 - f16(in2[v2 % 11u32])
                v3 = v1 < add_sat(bitcast<u32>(invocation), rotr(v2, wid.y) % select(bool(mine11[v1 % 3u32]), invocation, 4194303u32))
                mine11[v1] = f32(select(~in2[u32(out1[invocation]) % v1], v2 ^ invocation, u32(v3)) % u32(out1[invocation]) + lane(vec4<u32>(select(bool(out1[invocation]), v2, v2), 262145u32 * u32(in2[wid.x]), u32(mine11[v1]), invocation), 1))
                soft3[invocation] = rsqrt(min(max(f16(in2[3]), 0.25f16), 1e+03f16))
            }
            let v2 = f16(select(is_finite(select(in2[invocation + 3u32], f16(in2[rotl(u32(mine11[1]), v1)]), -56.06f16)), invocation, bitcast<u32>(u32(out1[invocation])) + bitcast<u32>(v1)))
            v2 = trunc(copysign(v2, select(v2 == v2, v2, 1.5f16)) * (f16(mine11[invocation]) / -4.75f16) + (v2 + v2) / fma(f16(out0[invocation * 3u32 + 2u32]), v2, v2))
            v2 = (min(v2 * v2, f16(out1[invocation])) + 0.0f16) * round(4.5f16 + f16(out1[invocation])) - select((v2 >= v2) == is_nan(v2), max(-(-0.003363f16), trunc(6e-08f16)) + 0.0f16, floor(v2))
        } else {
            for v2 in 0..4 {
                let v3 = bitcast<f16>(select(f16(out1[invocation]) == f16(out1[invocation]), f16(out1[invocation]), 1.5f16)) + (max(f16(out0[invocation * 3u32 + 1u32]), abs(f16(out0[invocation * 3u32 + 0u32]))) + 0.0f16)
                v3 = lane(vec3<f16>(abs(1.5f16) - v3 * -4.75f16, -6.55e+04f16 + 1.0f16, f16(mine11[invocation])), 2)
                out1[invocation] = f32(copysign(f16(out0[invocation * 3u32 + 2u32]), select(v3 == v3, v3, 1.5f16)))
                let v4 = popcount(bitcast<u32>(2863311530u32))
            }
            if select(is_inf(-6.1e-05f16), false, (0.000144f16 < f16(mine11[wid.y])) ^ in2[invocation + 3u32] ^ (f16(out1[invocation]) * f16(out0[invocation * 3u32 + 1u32]) != floor(f16(out0[invocation * 3u32 + 1u32])))) {
                let v2 = atomic_exchange(own5[invocation], select(in2[invocation + 0u32], v1 >> num_workgroups.y, u32(-1.582f16)), seq_cst)
                mine11[v1 % 3u32] = f32(f16(abs(bitcast<u32>(u32(out0[invocation * 3u32 + 1u32])) | (u32(out0[invocation * 3u32 + 0u32]) ^ invocation))))
                out0[invocation + 2147483648u32] = f32(select(false, v1, u32(out1[invocation])) > lid.z)
                let v3 = true
            }
        }
    }
    tally9[lid.x] = sub_sat(add_sat(bitcast<u32>(u32(out1[invocation])), -invocation) - (u32(in2[invocation]) ^ (invocation - 4097u32)), popcount(mul_hi(3u32 & len(tile6), rotr(u32(out0[invocation * 3u32 + 1u32]), invocation))))
    barrier acquire
    eval atomic_max(tally9[invocation % 33u32], bitcast<u32>(select(in2[4], u32(out1[invocation]), lid.z)))
    barrier seq_cst
    let v1 = f16(invocation) < f16(tally9[16]) / -6.1e-05f16 * ceil(-1023.5f16) / round_even(-inf_f16)
    for v2 in invocation & 2147483647u32..(invocation & 2147483647u32) + 0u32 {
        let v3 = atomic_min(own5[invocation], invocation, seq_cst)
        for v4 in ~tally9[invocation] & 2147483647u32..(~tally9[invocation] & 2147483647u32) + 3u32 {
            for v5 in 0..1 {
                let v6 = f16(out1[invocation])
                eval atomic_or(count4[invocation], 255u32)
            }
            for v5 in 0..3 {
                out0[invocation * 3u32 + 2u32] = f32(max(lane(vec2<f16>(f16(in2[v2 % 11u32]), select(true, -0.25f16, f16(tally9[tally9[u32(false) % 33u32] % 33u32]))), 1), fma(fma(fma(f16(tally9[u32(-3.5f16) % 33u32]), f16(out0[invocation * 3u32 + 2u32]), f16(out0[invocation * 3u32 + 1u32])), f16(v1), f16(u32(out1[invocation]))), bitcast<f16>(select(-inf_f16 == -inf_f16, -inf_f16, 1.5f16)), f16(v5 >> u32(out0[invocation * 3u32 + 2u32])))) + 0.0f16)
                eval atomic_or(count4[mul_hi(v3, v5) % 16u32], 33554433u32)
            }
        }
    }
    barrier release
    v1 = select(f16(true) < max(trunc(6.1e-05f16), f16(mine11[invocation % 3u32]) - f16(out0[invocation * 3u32 + 2u32])) + 0.0f16, ((f16(in2[2]) != f16(out1[invocation])) ^ bool(invocation)) | false, ~(wid.z != u32(in2[invocation + 3u32]) % u32(out1[invocation])))
    v1 = is_finite(min(f16(mine11[invocation]) + bitcast<f16>(select(f16(out0[invocation * 3u32 + 0u32]) == f16(out0[invocation * 3u32 + 0u32]), f16(out0[invocation * 3u32 + 0u32]), 1.5f16)), 0.75f16) + 0.0f16)
    relay10[invocation] = is_nan(fma(0.0001982f16, f16(out1[invocation]), copysign(f16(out1[invocation]), select(f16(mine11[invocation]) == f16(mine11[invocation]), f16(mine11[invocation]), 1.5f16))))
    barrier grid_sync
    if popcount(u32(out1[invocation])) <= u32(f16(mine11[invocation + 2u32])) {
        return
    }
    let v2 = u32(mine11[gid.z % 3u32]) >= ctz(invocation) % reverse_bits(ctz(invocation))
    if (max(-f16(relay10[45]), bitcast<f16>(select(f16(in2[invocation + 1u32]) == f16(in2[invocation + 1u32]), f16(in2[invocation + 1u32]), 1.5f16))) + 0.0f16 > select(u32(mine11[1]) == invocation, f16(out1[invocation]), bitcast<f16>(select(nan_f16 == nan_f16, nan_f16, 1.5f16)))) | (min(2.0f16 * f16(out1[invocation]), bitcast<f16>(select(f16(mine11[abs(invocation) % 3u32]) == f16(mine11[abs(invocation) % 3u32]), f16(mine11[abs(invocation) % 3u32]), 1.5f16))) + 0.0f16 != select(bool(f16(out1[invocation])), f16(true), f16(out1[invocation]))) {
        out0[invocation * 3u32 + 1u32] = f32(u32(mine11[invocation + 2u32]))
        eval atomic_or(count4[invocation], invocation, seq_cst)
    }
    barrier grid_sync
    out0[invocation * 3u32 + 2u32] = f32(invocation | (add_sat(invocation ^ invocation, invocation + 2u32) & u32(f16(mine11[invocation + 2u32]))))
    out1[invocation] = f32(select(u32(mine11[bitcast<u32>(u32(out1[invocation])) % 3u32]) == bitcast<u32>(popcount(num_workgroups.x)), select(round(f16(mine11[2])) != fma(f16(out1[invocation]), f16(out1[invocation]), f16(out1[invocation])), fma(f16(mine11[2]), f16(mine11[invocation]), -1.25f16) * f16(mine11[invocation + 0u32]), copysign(f16(u32(out0[invocation * 3u32 + 2u32])), select(f16(out1[invocation]) == f16(out1[invocation]), f16(out1[invocation]), 1.5f16))), bitcast<f16>(select(f16(in2[invocation % 11u32]) == f16(in2[invocation % 11u32]), f16(in2[invocation % 11u32]), 1.5f16))))
}
