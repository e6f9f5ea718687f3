program workgroup(16, 2, 1)

buffer out0: read_write bytes[32] @0
buffer in1: read_only bool[] @1
buffer in2: read_only i4[] @2
buffer in3: read_only bool[] @3
buffer soft4: read_write f64[32] @4 output live_out
buffer count5: read_write u32[16] @5 output live_out
buffer own6: read_write u32[32] @6
buffer tile7: workgroup bool[32]
buffer tile8: workgroup bool[32]
buffer copied9: read_write bool[32] @7 output live_out
buffer tally10: workgroup u32[32]
buffer mine11: local vec3<f32>[3]
buffer mine12: local nf4[3]

region "vyre.program.root" {
    let invocation = gid.x + gid.y * (num_workgroups.x * 16u32)
    tile8[lid.x + lid.y * 16u32] = in1[add_sat(invocation, invocation) % max(len(in1), 1u32)]
    barrier seq_cst
    tally10[lid.x + lid.y * 16u32] = select(round(max(f64(in2[len(out0)]), -255.99999999999997f64) + 0.0f64) > f64(tile8[len(tally10) % 32u32]), popcount(select(u32(in2[invocation % max(len(in2), 1u32)]) != invocation, invocation, select(bool(in2[invocation]), invocation, invocation))), max(min(u32(mine12[1]), invocation) * invocation, invocation % (u32(in1[invocation % max(len(in1), 1u32)]) + invocation)))
    barrier seq_cst
    if select(select(in1[invocation], false, true), f64(in2[invocation % max(len(in2), 1u32)]) < f64(in2[invocation + 1u32]), invocation == 4294967294u32) {
        eval atomic_xor(tally10[wid.x], select(true, ~u32(in3[(lid.x + lid.y * 16u32) % max(len(in3), 1u32)]), bitcast<u32>(u32(lane(mine11[invocation % 3u32], 0)))), release)
    }
    barrier seq_cst
    eval atomic_max(count5[min(invocation, u32(in1[invocation])) % 16u32], tally10[invocation + 0u32], release)
    barrier release
    out0[invocation] = u8(fma(min(lane(vec3<f64>(f64(out0[invocation]), -4.675281702602746e-243f64, -3.75f64), 1), (min(-2.0f64, f64(in2[invocation % max(len(in2), 1u32)])) + 0.0f64) * f64(in3[invocation % max(len(in3), 1u32)])) + 0.0f64, round(bitcast<f64>(select(f64(in2[invocation]) == f64(in2[invocation]), f64(in2[invocation]), 1.5f64))), f64(in2[invocation % max(len(in2), 1u32)])))
    let v1 = select(in3[invocation % max(len(in3), 1u32)], f64(out0[invocation]), -1.75f64) / fma(f64(tile8[invocation % 32u32]), f64(in1[wid.x % max(len(in1), 1u32)]), f64(out0[invocation])) + f64(out0[invocation]) + 1.0f64
    barrier seq_cst
    let v2 = subgroup_add(select(bool(u32(mine12[invocation % 3u32])), u32(mine12[invocation % 3u32]) % u32(out0[invocation]), byte_swap(u32(in3[invocation % max(len(in3), 1u32)]))))
    let v3 = subgroup_max(u32(lane(mine11[invocation], 1)))
    tally10[lid.x + lid.y * 16u32] = u32(mine12[invocation])
    barrier seq_cst
    eval atomic_xor(tally10[(lid.x + lid.y * 16u32) % 32u32], bitcast<u32>(v3) | 7u32, acquire)
    barrier seq_cst
    let v4 = shuffle(u32(in3[v3]) < 4294967292u32, v2)
    barrier seq_cst
    for v5 in 4294967293..4294967295 {
        let v6 = atomic_add(own6[invocation], rotl(min(v3, u32(mine12[2])), invocation + v5))
        eval atomic_or(own6[invocation], v3, acquire)
        out0[invocation] = u8(u32(v1 / f64(mine12[invocation]) * -fma(v1, f64(out0[invocation]), v1)))
        let v7 = fma(fma(f64(v6 > subgroup_lane), copysign(f64(in1[v5 % max(len(in1), 1u32)]), select(f64(lane(mine11[invocation % 3u32], 1)) == f64(lane(mine11[invocation % 3u32], 1)), f64(lane(mine11[invocation % 3u32], 1)), 1.5f64)), min(f64(in3[v3]) + 4503599627370495.5f64, v1) + 0.0f64), bitcast<f64>(select(f64(in3[invocation + 3u32]) == f64(in3[invocation + 3u32]), f64(in3[invocation + 3u32]), 1.5f64)) / (f64(mine12[invocation]) / round(v1)), fma(f64(v6) / (f64(in2[invocation]) / 9007199254740992.0f64), min(min(v1, 3.75f64) + 0.0f64, -v1) + 0.0f64, v1))
    }
    soft4[invocation] = log10(min(max(v1, 0.25f64), 1e+03f64))
    for v5 in 4294967294..4294967295 {
        let v6 = 2u32
        while (v6 > 0u32) & in1[invocation] {
            v6 = v6 - 1u32
            v1 = -(fma(f64(out0[invocation]) * v1, trunc(f64(lane(mine11[v6 % 3u32], 1))), ceil(f64(lane(mine11[v2 % 3u32], 0)))) + trunc(-v1))
            v3 = select(v4, u32(bool(out0[invocation]) == in3[invocation]), u32(v4) ^ (u32(lane(mine11[clz(u32(lane(mine11[v3 % 3u32], 0))) % 3u32], 2)) << v5)) >> min(max(bitcast<u32>(2147483648u32), v2), u32(bitcast<f64>(select(-8.048087296531539e-204f64 == -8.048087296531539e-204f64, -8.048087296531539e-204f64, 1.5f64))))
            v3 = max(add_sat(u32(f64(in1[invocation + 0u32]) * v1), max(rotr(v5, len(tile8)), v5)), u32(4.75f64) * (lane(vec3<u32>(u32(in3[v2]), v6, v5), 0) % (2309737967u32 / u32(out0[invocation]))))
        }
        out0[invocation] = u8(max((f64(in3[invocation]) - -0.5f64) * (v1 * bitcast<f64>(select(f64(mine12[1]) == f64(mine12[1]), f64(mine12[1]), 1.5f64))), max(-f64(lane(mine11[v6 % 3u32], 2)) - f64(in3[v3 % max(len(in3), 1u32)]) / f64(in2[invocation]), v1) + 0.0f64) + 0.0f64)
        out0[invocation] = u8(lane(vec4<u32>(sub_sat(u32(mine12[v2 % 3u32]), v6 | v6), u32(-8388608.0f64) % u32(in1[bitcast<u32>(v2) % max(len(in1), 1u32)]), byte_swap(u32(lane(mine11[invocation], 2)) - (lid.x + lid.y * 16u32)), ctz(v5)), 2))
    }
    let v5 = f64(rotr(v2, u32(in3[subgroup_size % max(len(in3), 1u32)]))) * lane(vec4<f64>(v1, v1 - v1, bitcast<f64>(select(f64(mine12[invocation % 3u32]) == f64(mine12[invocation % 3u32]), f64(mine12[invocation % 3u32]), 1.5f64)), v1 / v1), 0)
    out0[invocation] = u8(select(~(v4 & (v1 < v5)), select(v4, v5, v5) * f64(in1[v2]) <= -v1, bool(lane(vec3<u32>(v2, v3, invocation), 0))))
    for v6 in 1..3u32 % 4u32 {
        eval atomic_max(count5[v6 % 16u32], u32(v4), acq_rel)
        let v7 = atomic_exchange(own6[invocation], rotl(byte_swap(lid.x + lid.y * 16u32), u32(v4)), release)
        soft4[invocation] = pow(min(max(1.8446744073709552e+19f64, 0.25f64), 8.0f64), min(max(f64(lane(mine11[v2], 0)), -3.0f64), 3.0f64))
    }
    let v6 = atomic_exchange(own6[invocation], add_sat(v3, v3) & rotl(v2, invocation), acquire)
    mine11[num_workgroups.z % 3u32] = vec3<f32>(fma(f32(in3[v3]), mine12[1], f32(out0[invocation])) / (mine12[v3 % 3u32] + 0.25f32), mine12[invocation], mine12[invocation] + mine12[(invocation >> v2) % 3u32] - sqrt(f32(in3[v2])))
    out0[invocation] = u8(select((v2 >> u32(out0[invocation])) >= u32(in2[v3 % max(len(in2), 1u32)]) % u32(lane(mine11[u32(mine12[v3 % 3u32]) % 33554432u32], 0)), is_finite(min(v1, 5.909140434812297e-230f64) + 0.0f64), trunc(v5) == floor(v1)) != (((invocation >> 4294967294u32) ^ (u32(out0[invocation]) << 65536u32)) >= v2))
}
