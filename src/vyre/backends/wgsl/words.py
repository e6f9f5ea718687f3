"""Words that WGSL keeps for itself: keywords, reserved words, and predeclared names we rely on."""

from __future__ import annotations

_TEXT = """
alias break case const const_assert continue continuing default diagnostic discard else enable
false fn for if let loop override requires return struct switch true var while

NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
cast catch class co_await co_return co_yield coherent column_major common compile
compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete
demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough
filter final finally friend from fxgroup get goto groupshared highp impl implements import
inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut
mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent
noperspective null nullptr of operator package packoffset partition pass patch pixelfragment
precise precision premerge priv protected pub public readonly ref regardless register
reinterpret_cast require resource restrict self set shared sizeof smooth snorm static
static_assert static_cast std subroutine super target template this thread_local throw trait try
type typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual
volatile wgsl where with writeonly yield

array atomic bool f16 f32 f64 i16 i32 i64 mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2
mat4x3 mat4x4 ptr sampler texture_1d texture_2d u16 u32 u64 vec2 vec3 vec4 vec2u vec3u vec4u
vec2i vec3i vec4i vec2f vec3f vec4f vec2h vec3h vec4h

abs acos acosh all any arrayLength asin asinh atan atan2 atanh atomicAdd atomicAnd
atomicCompareExchangeWeak atomicExchange atomicLoad atomicMax atomicMin atomicOr atomicStore
atomicSub atomicXor bitcast ceil clamp cos cosh countLeadingZeros countOneBits
countTrailingZeros cross degrees determinant distance dot exp exp2 extractBits faceForward
firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log
log2 max min mix modf normalize pack2x16float pow quantizeToF16 radians reflect refract
reverseBits round saturate select sign sin sinh smoothstep sqrt step storageBarrier
subgroupAdd subgroupAnd subgroupBallot subgroupBroadcast subgroupMax subgroupMin subgroupMul
subgroupOr subgroupShuffle subgroupXor tan tanh transpose trunc unpack2x16float workgroupBarrier
workgroupUniformLoad

function private read read_write storage uniform workgroup write
"""

RESERVED = frozenset(_TEXT.split())
"""Words that no identifier of ours may be."""
