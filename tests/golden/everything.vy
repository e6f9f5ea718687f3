program workgroup(64, 2, 0) op "vyre \"id\"" fast_math

buffer t0: read_only bool[] @0
buffer t1: read_only u8[] @1
buffer t2: read_only i8[] @2
buffer t3: read_only u16[] @3
buffer t4: read_only i16[] @4
buffer t5: read_only u32[] @5
buffer t6: read_only i32[] @6
buffer t7: read_only u64[] @7
buffer t8: read_only i64[] @8
buffer t9: read_only f16[] @9
buffer t10: read_only bf16[] @10
buffer t11: read_only f32[] @11
buffer t12: read_only f64[] @12
buffer t13: read_only bytes[] @13
buffer t14: read_only f8e4m3[] @14
buffer t15: read_only f8e5m2[] @15
buffer t16: read_only i4[] @16
buffer t17: read_only fp4[] @17
buffer t18: read_only nf4[] @18
buffer t19: read_only vec2<u32>[] @19
buffer t20: read_only vec16<bool>[] @20
buffer t21: read_only vec3<bf16>[] @21
buffer t22: read_only array<1>[] @22
buffer t23: read_only array<65536>[] @23
buffer t24: read_only tensor[] @24
buffer t25: read_only tensor<f32, 1, 2, 4294967295>[] @25
buffer t26: read_only csr<f16>[] @26
buffer t27: read_only coo<i8>[] @27
buffer t28: read_only bsr<f64, 4, 8>[] @28
buffer t29: read_only opaque<vendor.kind_2>[] @29
buffer read_only.global: read_only u32[3] in global
buffer read_only.readonly: read_only u32[3]
buffer read_only.uniform: read_only u32[3] in uniform
buffer read_only.push: read_only u32[3] in push
buffer read_only.shared: read_only u32[3] in shared
buffer read_only.local: read_only u32[3] in local
buffer read_only.scratch: read_only u32[3] in scratch
buffer read_only.persistent: read_only u32[3] in persistent
buffer read_write.global: read_write u32[3]
buffer read_write.readonly: read_write u32[3] in readonly
buffer read_write.uniform: read_write u32[3] in uniform
buffer read_write.push: read_write u32[3] in push
buffer read_write.shared: read_write u32[3] in shared
buffer read_write.local: local u32[3]
buffer read_write.scratch: scratch u32[3]
buffer read_write.persistent: read_write u32[3] in persistent
buffer write_only.global: write_only u32[3]
buffer write_only.readonly: write_only u32[3] in readonly
buffer write_only.uniform: write_only u32[3] in uniform
buffer write_only.push: write_only u32[3] in push
buffer write_only.shared: write_only u32[3] in shared
buffer write_only.local: write_only u32[3] in local
buffer write_only.scratch: write_only u32[3] in scratch
buffer write_only.persistent: write_only u32[3] in persistent
buffer uniform.global: uniform u32[3] in global
buffer uniform.readonly: uniform u32[3] in readonly
buffer uniform.uniform: uniform u32[3]
buffer uniform.push: uniform u32[3] in push
buffer uniform.shared: uniform u32[3] in shared
buffer uniform.local: uniform u32[3] in local
buffer uniform.scratch: uniform u32[3] in scratch
buffer uniform.persistent: uniform u32[3] in persistent
buffer workgroup.global: workgroup u32[3] in global
buffer workgroup.readonly: workgroup u32[3] in readonly
buffer workgroup.uniform: workgroup u32[3] in uniform
buffer workgroup.push: workgroup u32[3] in push
buffer workgroup.shared: workgroup u32[3]
buffer workgroup.local: workgroup u32[3] in local
buffer workgroup.scratch: workgroup u32[3] in scratch
buffer workgroup.persistent: workgroup u32[3] in persistent
buffer rw: read_write u32[] @1
buffer w: write_only u32[] @4294967295
buffer o: read_write u32[] @0 output live_out
buffer u: uniform u32[] @0
buffer wg: workgroup u32[4]
buffer s: scratch u32[4]
buffer l: local u32[4294967295]
buffer i: read_write u32[] @2 live_out initial
buffer h: read_only u32[] @0 hints(axis=0)
buffer h: read_only u32[] @0 hints(align=16)
buffer h: read_only u32[] @0
buffer h: read_only u32[] @0 hints(streaming)
buffer h: read_only u32[] @0 hints(temporal)
buffer h: read_only u32[] @0 hints(random)
buffer h: read_only u32[] @0 hints(axis=2, align=256, random)

let x = x
x = x
a[0] = x
eval x
if x {}
if x {} else {
    break
    continue
    return
}
if x {
    break
    continue
    return
} else {
    return
}
if x {
    break
    continue
    return
} else if x {} else if x {
    break
    continue
    return
} else {
    break
    continue
    return
}
if x {
    break
    continue
    return
} else {
    if x {}
    return
}
for k in 0..x {}
for k in -3i8..4i8 {
    break
    continue
    return
}
while x {
    break
    continue
    return
}
{}
{
    {
        break
        continue
        return
    }
}
region "" {}
region "a \"b\" \\ c" from "ünï" {
    break
    continue
    return
}
region "g" from "" {}
barrier relaxed
barrier acquire
barrier release
barrier acq_rel
barrier seq_cst
barrier grid_sync
async_load "t" tile[0] <- a[x], 64
async_store "t" a[x] <- tile[0], x
async_wait "t"
trap "no"
resume "no"
print "label"
print "label", x, 1u32
indirect_dispatch a[0]
indirect_dispatch a[4294967295]
all_reduce add a
all_reduce mul a
all_reduce min a
all_reduce max a
all_reduce and a
all_reduce or a
all_reduce xor a
all_gather a -> b
reduce_scatter max a -> b
broadcast a from 0
broadcast a from 7
opaque vendor.op ()
opaque vendor.op hex"00ff" (x, x)
eval -x
eval ~x
eval abs(x)
eval popcount(x)
eval clz(x)
eval ctz(x)
eval reverse_bits(x)
eval byte_swap(x)
eval floor(x)
eval ceil(x)
eval trunc(x)
eval round(x)
eval round_even(x)
eval sqrt(x)
eval rsqrt(x)
eval exp(x)
eval exp2(x)
eval expm1(x)
eval log(x)
eval log2(x)
eval log10(x)
eval log1p(x)
eval sin(x)
eval cos(x)
eval tan(x)
eval asin(x)
eval acos(x)
eval atan(x)
eval sinh(x)
eval cosh(x)
eval tanh(x)
eval is_nan(x)
eval is_inf(x)
eval is_finite(x)
eval x + a[i + 1u32]
eval x - a[i + 1u32]
eval x * a[i + 1u32]
eval x / a[i + 1u32]
eval x % a[i + 1u32]
eval x & a[i + 1u32]
eval x | a[i + 1u32]
eval x ^ a[i + 1u32]
eval x << a[i + 1u32]
eval x >> a[i + 1u32]
eval rotl(x, a[i + 1u32])
eval rotr(x, a[i + 1u32])
eval min(x, a[i + 1u32])
eval max(x, a[i + 1u32])
eval x == a[i + 1u32]
eval x != a[i + 1u32]
eval x < a[i + 1u32]
eval x <= a[i + 1u32]
eval x > a[i + 1u32]
eval x >= a[i + 1u32]
eval add_sat(x, a[i + 1u32])
eval sub_sat(x, a[i + 1u32])
eval mul_hi(x, a[i + 1u32])
eval pow(x, a[i + 1u32])
eval atan2(x, a[i + 1u32])
eval copysign(x, a[i + 1u32])
eval subgroup_add(x)
eval subgroup_mul(x)
eval subgroup_min(x)
eval subgroup_max(x)
eval subgroup_and(x)
eval subgroup_or(x)
eval subgroup_xor(x)
eval bool(x)
eval u8(x)
eval i8(x)
eval u16(x)
eval i16(x)
eval u32(x)
eval i32(x)
eval u64(x)
eval i64(x)
eval f16(x)
eval bf16(x)
eval f32(x)
eval f64(x)
eval cast<bytes>(x)
eval cast<f8e4m3>(x)
eval cast<f8e5m2>(x)
eval cast<i4>(x)
eval cast<fp4>(x)
eval cast<nf4>(x)
eval cast<vec2<u32>>(x)
eval cast<vec16<bool>>(x)
eval cast<vec3<bf16>>(x)
eval cast<array<1>>(x)
eval cast<array<65536>>(x)
eval cast<tensor>(x)
eval cast<tensor<f32, 1, 2, 4294967295>>(x)
eval cast<csr<f16>>(x)
eval cast<coo<i8>>(x)
eval cast<bsr<f64, 4, 8>>(x)
eval cast<opaque<vendor.kind_2>>(x)
eval gid.x
eval gid.y
eval gid.z
eval lid.x
eval lid.y
eval lid.z
eval wid.x
eval wid.y
eval wid.z
eval num_workgroups.x
eval num_workgroups.y
eval num_workgroups.z
eval subgroup_size
eval subgroup_lane
eval atomic_add(a[x], a[i + 1u32])
eval atomic_add(a[0], a[i + 1u32], expected = x)
eval atomic_add(a[x], a[i + 1u32], acquire)
eval atomic_add(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_add(a[x], a[i + 1u32], release)
eval atomic_add(a[0], a[i + 1u32], expected = x, release)
eval atomic_add(a[x], a[i + 1u32], acq_rel)
eval atomic_add(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_add(a[x], a[i + 1u32], seq_cst)
eval atomic_add(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_add(a[x], a[i + 1u32], grid_sync)
eval atomic_add(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_sub(a[x], a[i + 1u32])
eval atomic_sub(a[0], a[i + 1u32], expected = x)
eval atomic_sub(a[x], a[i + 1u32], acquire)
eval atomic_sub(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_sub(a[x], a[i + 1u32], release)
eval atomic_sub(a[0], a[i + 1u32], expected = x, release)
eval atomic_sub(a[x], a[i + 1u32], acq_rel)
eval atomic_sub(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_sub(a[x], a[i + 1u32], seq_cst)
eval atomic_sub(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_sub(a[x], a[i + 1u32], grid_sync)
eval atomic_sub(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_and(a[x], a[i + 1u32])
eval atomic_and(a[0], a[i + 1u32], expected = x)
eval atomic_and(a[x], a[i + 1u32], acquire)
eval atomic_and(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_and(a[x], a[i + 1u32], release)
eval atomic_and(a[0], a[i + 1u32], expected = x, release)
eval atomic_and(a[x], a[i + 1u32], acq_rel)
eval atomic_and(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_and(a[x], a[i + 1u32], seq_cst)
eval atomic_and(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_and(a[x], a[i + 1u32], grid_sync)
eval atomic_and(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_or(a[x], a[i + 1u32])
eval atomic_or(a[0], a[i + 1u32], expected = x)
eval atomic_or(a[x], a[i + 1u32], acquire)
eval atomic_or(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_or(a[x], a[i + 1u32], release)
eval atomic_or(a[0], a[i + 1u32], expected = x, release)
eval atomic_or(a[x], a[i + 1u32], acq_rel)
eval atomic_or(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_or(a[x], a[i + 1u32], seq_cst)
eval atomic_or(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_or(a[x], a[i + 1u32], grid_sync)
eval atomic_or(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_xor(a[x], a[i + 1u32])
eval atomic_xor(a[0], a[i + 1u32], expected = x)
eval atomic_xor(a[x], a[i + 1u32], acquire)
eval atomic_xor(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_xor(a[x], a[i + 1u32], release)
eval atomic_xor(a[0], a[i + 1u32], expected = x, release)
eval atomic_xor(a[x], a[i + 1u32], acq_rel)
eval atomic_xor(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_xor(a[x], a[i + 1u32], seq_cst)
eval atomic_xor(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_xor(a[x], a[i + 1u32], grid_sync)
eval atomic_xor(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_min(a[x], a[i + 1u32])
eval atomic_min(a[0], a[i + 1u32], expected = x)
eval atomic_min(a[x], a[i + 1u32], acquire)
eval atomic_min(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_min(a[x], a[i + 1u32], release)
eval atomic_min(a[0], a[i + 1u32], expected = x, release)
eval atomic_min(a[x], a[i + 1u32], acq_rel)
eval atomic_min(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_min(a[x], a[i + 1u32], seq_cst)
eval atomic_min(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_min(a[x], a[i + 1u32], grid_sync)
eval atomic_min(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_max(a[x], a[i + 1u32])
eval atomic_max(a[0], a[i + 1u32], expected = x)
eval atomic_max(a[x], a[i + 1u32], acquire)
eval atomic_max(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_max(a[x], a[i + 1u32], release)
eval atomic_max(a[0], a[i + 1u32], expected = x, release)
eval atomic_max(a[x], a[i + 1u32], acq_rel)
eval atomic_max(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_max(a[x], a[i + 1u32], seq_cst)
eval atomic_max(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_max(a[x], a[i + 1u32], grid_sync)
eval atomic_max(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_exchange(a[x], a[i + 1u32])
eval atomic_exchange(a[0], a[i + 1u32], expected = x)
eval atomic_exchange(a[x], a[i + 1u32], acquire)
eval atomic_exchange(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_exchange(a[x], a[i + 1u32], release)
eval atomic_exchange(a[0], a[i + 1u32], expected = x, release)
eval atomic_exchange(a[x], a[i + 1u32], acq_rel)
eval atomic_exchange(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_exchange(a[x], a[i + 1u32], seq_cst)
eval atomic_exchange(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_exchange(a[x], a[i + 1u32], grid_sync)
eval atomic_exchange(a[0], a[i + 1u32], expected = x, grid_sync)
eval atomic_compare_exchange(a[x], a[i + 1u32])
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x)
eval atomic_compare_exchange(a[x], a[i + 1u32], acquire)
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x, acquire)
eval atomic_compare_exchange(a[x], a[i + 1u32], release)
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x, release)
eval atomic_compare_exchange(a[x], a[i + 1u32], acq_rel)
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x, acq_rel)
eval atomic_compare_exchange(a[x], a[i + 1u32], seq_cst)
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x, seq_cst)
eval atomic_compare_exchange(a[x], a[i + 1u32], grid_sync)
eval atomic_compare_exchange(a[0], a[i + 1u32], expected = x, grid_sync)
eval select(x, a[i + 1u32], x)
eval fma(x, a[i + 1u32], x)
eval bitcast<f32>(x)
eval vec2<u32>(x, a[i + 1u32])
eval make<u32>()
eval array<2>(x, a[i + 1u32])
eval lane(x, 3)
eval lane(x, -1)
eval len(a)
eval ballot(x)
eval shuffle(x, a[i + 1u32])
eval shuffle(x, 3)
eval false
eval true
eval 0u8
eval 1u8
eval 254u8
eval 255u8
eval -128i8
eval -127i8
eval -1i8
eval 0i8
eval 1i8
eval 126i8
eval 127i8
eval 0u16
eval 1u16
eval 65534u16
eval 65535u16
eval -32768i16
eval -32767i16
eval -1i16
eval 0i16
eval 1i16
eval 32766i16
eval 32767i16
eval 0u32
eval 1u32
eval 4294967294u32
eval 4294967295u32
eval -2147483648i32
eval -2147483647i32
eval -1i32
eval 0i32
eval 1i32
eval 2147483646i32
eval 2147483647i32
eval 0u64
eval 1u64
eval 18446744073709551614u64
eval 18446744073709551615u64
eval -9223372036854775808i64
eval -9223372036854775807i64
eval -1i64
eval 0i64
eval 1i64
eval 9223372036854775806i64
eval 9223372036854775807i64
eval 0.0f16
eval -0.0f16
eval 6e-08f16
eval -6e-08f16
eval 1e-07f16
eval -1e-07f16
eval 2e-07f16
eval -2e-07f16
eval 1.0f16
eval -1.0f16
eval 6.55e+04f16
eval -6.55e+04f16
eval inf_f16
eval -inf_f16
eval bits(0x7c01, f16)
eval bits(0xfc01, f16)
eval nan_f16
eval -nan_f16
eval bits(0x7f80, f16)
eval bits(0xff80, f16)
eval bits(0x7fc0, f16)
eval bits(0xffc0, f16)
eval bits(0x7fff, f16)
eval bits(0xffff, f16)
eval 0.1f16
eval 1.0f16
eval inf_f16
eval 3e-05f16
eval inf_f16
eval 0.0bf16
eval -0.0bf16
eval 9e-41bf16
eval -9e-41bf16
eval 2e-40bf16
eval -2e-40bf16
eval 3e-40bf16
eval -3e-40bf16
eval 0.0078bf16
eval -0.0078bf16
eval 2.65e+36bf16
eval -2.65e+36bf16
eval 2.66e+36bf16
eval -2.66e+36bf16
eval 2.68e+36bf16
eval -2.68e+36bf16
eval 4.25e+37bf16
eval -4.25e+37bf16
eval inf_bf16
eval -inf_bf16
eval nan_bf16
eval -nan_bf16
eval bits(0x7fff, bf16)
eval bits(0xffff, bf16)
eval 0.1bf16
eval 1.0bf16
eval 1e+10bf16
eval 3e-05bf16
eval inf_bf16
eval 0.0f32
eval -0.0f32
eval 1e-45f32
eval -1e-45f32
eval 3e-45f32
eval -3e-45f32
eval 4e-45f32
eval -4e-45f32
eval 2.1524e-41f32
eval -2.1524e-41f32
eval 4.4481e-41f32
eval -4.4481e-41f32
eval 4.4483e-41f32
eval -4.4483e-41f32
eval 4.4484e-41f32
eval -4.4484e-41f32
eval 4.52e-41f32
eval -4.52e-41f32
eval 4.5738e-41f32
eval -4.5738e-41f32
eval 4.5828e-41f32
eval -4.5828e-41f32
eval 4.5916e-41f32
eval -4.5916e-41f32
eval 0.1f32
eval 1.0f32
eval 1e+10f32
eval 3e-05f32
eval inf_f32
eval 0.0f64
eval -0.0f64
eval 5e-324f64
eval -5e-324f64
eval 1e-323f64
eval -1e-323f64
eval 1.5e-323f64
eval -1.5e-323f64
eval 7.589e-320f64
eval -7.589e-320f64
eval 1.5683e-319f64
eval -1.5683e-319f64
eval 1.56836e-319f64
eval -1.56836e-319f64
eval 1.5684e-319f64
eval -1.5684e-319f64
eval 1.59366e-319f64
eval -1.59366e-319f64
eval 1.61263e-319f64
eval -1.61263e-319f64
eval 1.6158e-319f64
eval -1.6158e-319f64
eval 1.6189e-319f64
eval -1.6189e-319f64
eval 0.1f64
eval 1.0f64
eval 1e+10f64
eval 3e-05f64
eval inf_f64
let `let` = `let` + `let`[`let`]
let `gid.x` = `gid.x` + `gid.x`[`gid.x`]
let `true` = `true` + `true`[`true`]
let `inf_f32` = `inf_f32` + `inf_f32`[`inf_f32`]
let u32 = u32 + u32[u32]
let min = min + min[min]
let len = len + len[len]
let `x.` = `x.` + `x.`[`x.`]
let `x..y` = `x..y` + `x..y`[`x..y`]
let _ = _ + _[_]
let a.b.c = a.b.c + a.b.c[a.b.c]
let `program` = `program` + `program`[`program`]
let `buffer` = `buffer` + `buffer`[`buffer`]
let `else` = `else` + `else`[`else`]
let `seq_cst` = `seq_cst` + `seq_cst`[`seq_cst`]
let hex = hex + hex[hex]
let vec4 = vec4 + vec4[vec4]
let array = array + array[array]
let e1 = e1 + e1[e1]
let xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx + xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx]
let lane = lane + lane[lane]
let expected = expected + expected[expected]
let op = op + op[op]
let output = output + output[output]
let `in` = `in` + `in`[`in`]
let `from` = `from` + `from`[`from`]
let `bitcast` = `bitcast` + `bitcast`[`bitcast`]
let a.5 = a.5 + a.5[a.5]
let bits = bits + bits[bits]
let atomic_add = atomic_add + atomic_add[atomic_add]
`let`[0] = len(`let`)
`gid.x`[0] = len(`gid.x`)
`true`[0] = len(`true`)
`inf_f32`[0] = len(`inf_f32`)
u32[0] = len(u32)
min[0] = len(min)
len[0] = len(len)
`x.`[0] = len(`x.`)
`x..y`[0] = len(`x..y`)
_[0] = len(_)
a.b.c[0] = len(a.b.c)
`program`[0] = len(`program`)
`buffer`[0] = len(`buffer`)
`else`[0] = len(`else`)
`seq_cst`[0] = len(`seq_cst`)
hex[0] = len(hex)
vec4[0] = len(vec4)
array[0] = len(array)
e1[0] = len(e1)
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[0] = len(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx)
lane[0] = len(lane)
expected[0] = len(expected)
op[0] = len(op)
output[0] = len(output)
`in`[0] = len(`in`)
`from`[0] = len(`from`)
`bitcast`[0] = len(`bitcast`)
a.5[0] = len(a.5)
bits[0] = len(bits)
atomic_add[0] = len(atomic_add)
`let` = y
`gid.x` = y
`true` = y
`inf_f32` = y
u32 = y
min = y
len = y
`x.` = y
`x..y` = y
_ = y
a.b.c = y
`program` = y
`buffer` = y
`else` = y
`seq_cst` = y
hex = y
vec4 = y
array = y
e1 = y
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = y
lane = y
expected = y
op = y
output = y
`in` = y
`from` = y
`bitcast` = y
a.5 = y
bits = y
atomic_add = y
