"""x = n pi/2 + r for the trigonometric functions, for every finite x.

Moderate x subtract n times pi/2 given in parts whose products with n are exact. Lanes beyond that,
which are rare, leave the vector: a scalar function multiplies the mantissa with the 192 bits of
2/pi that matter at its exponent.
"""

from __future__ import annotations

from math import inf
from typing import Final

from vyre.backends.llvm.maths.exponential import nearest
from vyre.backends.llvm.maths.ssa import Code, Value, madd
from vyre.backends.llvm.maths.tables import TWO_OVER_PI

_TWO_OVER_PI: Final = 0.6366197723675814
_SINGLE_PARTS: Final = (1.5707963109016418, 1.5893254773528196e-08)
_SINGLE_LIMIT: Final = 2.0**28
_DOUBLE_PARTS: Final = (
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
)
_DOUBLE_LIMIT: Final = 2.0**20


def reduce_single(x: Value) -> tuple[Value, Value]:
    """R in double lanes and the quadrant n of a single-precision x."""
    wide = x.widen()
    n, quadrant = nearest(wide * _TWO_OVER_PI)
    r = madd(n, -_SINGLE_PARTS[1], madd(n, -_SINGLE_PARTS[0], wide))
    magnitude = x.absolute()
    large = (magnitude > _SINGLE_LIMIT) & (magnitude < inf)
    r, quadrant = _repaired(wide, large, [r, quadrant])
    return r, quadrant.narrow()


def reduce_double(x: Value) -> tuple[Value, Value, Value]:
    """R as a sum of two doubles, and the quadrant n."""
    n, quadrant = nearest(x * _TWO_OVER_PI)
    first = x - n * _DOUBLE_PARTS[0]
    second, lost = _difference(first, n * _DOUBLE_PARTS[1])
    third, lost_more = _difference(second, n * _DOUBLE_PARTS[2])
    tail = (lost + lost_more) - n * _DOUBLE_PARTS[3]
    high = third + tail
    low = (third - high) + tail
    magnitude = x.absolute()
    large = (magnitude > _DOUBLE_LIMIT) & (magnitude < inf)
    high, low, quadrant = _repaired(x, large, [high, low, quadrant])
    return high, low, quadrant


def _difference(a: Value, b: Value) -> tuple[Value, Value]:
    """A - b rounded, and what the rounding lost."""
    d = a - b
    back = d - a
    return d, (a - (d - back)) - (b + back)


def _repaired(x: Value, large: Value, values: list[Value]) -> list[Value]:
    """R, what it lacks, and n, or r and n, with those of large lanes computed one by one."""
    code = x.code
    name = f"vyre_reduce_lanes{len(values)}_{code.width}"
    code.needs[_SCALAR] = None
    code.needs[_lane_function(name, code.width, len(values))] = None
    # The scalar function takes large numbers only: its table begins there.
    safe = large.select(x, _DOUBLE_LIMIT * 2.0)
    call = f"call {_struct(code, len(values))} @{name}({code.type('f64')} {safe.text})"
    return code.repair(large, values, call)


def _struct(code: Code, count: int) -> str:
    return "{ " + f"{code.type('f64')}, " * (count - 1) + code.type("i64") + " }"


def _lane_function(name: str, width: int, count: int) -> str:
    """A function that calls the scalar reduction for every lane."""
    code = Code(width, fma=False)
    result = _struct(code, count)
    doubles, integers = code.type("f64"), code.type("i64")
    parts = [(doubles, "double", 0), (doubles, "double", 1), (integers, "i64", 2)]
    if count == 2:
        del parts[1]
    lines = [
        f"define internal {result} @{name}({doubles} %x) nounwind memory(none) cold noinline {{"
    ]
    current = ["poison"] * count
    for lane in range(width):
        x = "%x"
        if width > 1:
            x = f"%x{lane}"
            lines.append(f"  {x} = extractelement {doubles} %x, i64 {lane}")
        lines.append(f"  %c{lane} = call {_ONE} @vyre_reduce_large(double {x})")
        for i, (vector, scalar, index) in enumerate(parts):
            lines.append(f"  %s{lane}.{i} = extractvalue {_ONE} %c{lane}, {index}")
            piece = f"%s{lane}.{i}"
            if width > 1:
                piece = f"%v{lane}.{i}"
                lines.append(
                    f"  {piece} = insertelement {vector} {current[i]}, "
                    f"{scalar} %s{lane}.{i}, i64 {lane}"
                )
            current[i] = piece
    packed = "poison"
    for i, (vector, _, _) in enumerate(parts):
        lines.append(f"  %p{i} = insertvalue {result} {packed}, {vector} {current[i]}, {i}")
        packed = f"%p{i}"
    return "\n".join([*lines, f"  ret {result} {packed}", "}"])


_ONE: Final = "{ double, double, i64 }"
_WORDS: Final = ", ".join(f"i64 {word}" for word in (0, *TWO_OVER_PI))

_SCALAR: Final = f"""\
@vyre_two_over_pi = internal unnamed_addr constant [{len(TWO_OVER_PI) + 1} x i64] [{_WORDS}]
define internal {_ONE} @vyre_reduce_large(double %x) nounwind memory(none) cold noinline {{
  %bits = bitcast double %x to i64
  %fraction = and i64 %bits, 4503599627370495
  %mantissa = or i64 %fraction, 4503599627370496
  %up = lshr i64 %bits, 52
  %exponent = and i64 %up, 2047
  ; x is mantissa * 2^(exponent - 1075): earlier bits of 2/pi give multiples of 4.
  %offset = sub i64 %exponent, 1013
  %index = lshr i64 %offset, 6
  %shift = and i64 %offset, 63
  %p0 = getelementptr [{len(TWO_OVER_PI) + 1} x i64], ptr @vyre_two_over_pi, i64 0, i64 %index
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %a = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %b = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %c = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  ; The product modulo 2^192: two bits of quadrant and 190 bits of fraction.
  %m = zext i64 %mantissa to i128
  %b128 = zext i64 %b to i128
  %c128 = zext i64 %c to i128
  %mc = mul i128 %m, %c128
  %mb = mul i128 %m, %b128
  %ma = mul i64 %mantissa, %a
  %mc.high = lshr i128 %mc, 64
  %middle = add i128 %mb, %mc.high
  %next = trunc i128 %middle to i64
  %middle.high = lshr i128 %middle, 64
  %carry = trunc i128 %middle.high to i64
  %top = add i64 %ma, %carry
  ; The nearest quadrant, and the signed rest.
  %half = add i64 %top, 2305843009213693952
  %quadrant = lshr i64 %half, 62
  %whole = shl i64 %quadrant, 62
  %rest = sub i64 %top, %whole
  %rest.w = sext i64 %rest to i128
  %rest.s = shl i128 %rest.w, 64
  %next.w = zext i64 %next to i128
  %v = or i128 %rest.s, %next.w
  %negative = icmp slt i128 %v, 0
  %v.minus = sub i128 0, %v
  %abs = select i1 %negative, i128 %v.minus, i128 %v
  ; Leading 53 bits and the 64 after them, as floats.
  %zeros = call i128 @llvm.ctlz.i128(i128 %abs, i1 false)
  %norm = shl i128 %abs, %zeros
  %h.w = lshr i128 %norm, 75
  %h = trunc i128 %h.w to i64
  %l.w = lshr i128 %norm, 11
  %l = trunc i128 %l.w to i64
  %h.f = uitofp i64 %h to double
  %l.f = uitofp i64 %l to double
  ; h stands for h times 2^(75 - zeros - 126), l for l times 2^(11 - zeros - 126).
  %zeros64 = trunc i128 %zeros to i64
  %e.h = sub i64 972, %zeros64
  %e.h.bits = shl i64 %e.h, 52
  %scale = bitcast i64 %e.h.bits to double
  %hi = fmul double %h.f, %scale
  %l.scaled = fmul double %l.f, %scale
  %lo = fmul double %l.scaled, 0x3BF0000000000000
  ; Times pi/2 in two parts.
  %r0 = fmul double %hi, 0x3FF921FB54442D18
  %r0.minus = fneg double %r0
  %e0 = call double @llvm.fma.f64(double %hi, double 0x3FF921FB54442D18, double %r0.minus)
  %e1 = fmul double %hi, 0x3C91A62633145C07
  %e2 = fmul double %lo, 0x3FF921FB54442D18
  %e3 = fadd double %e1, %e2
  %e4 = fadd double %e0, %e3
  %r.high = fadd double %r0, %e4
  %r.back = fsub double %r0, %r.high
  %r.low = fadd double %r.back, %e4
  ; The sign of the rest and of x.
  %minus.x = icmp slt i64 %bits, 0
  %flip = xor i1 %minus.x, %negative
  %high.minus = fneg double %r.high
  %low.minus = fneg double %r.low
  %high = select i1 %flip, double %high.minus, double %r.high
  %low = select i1 %flip, double %low.minus, double %r.low
  %quadrant.minus = sub i64 0, %quadrant
  %n = select i1 %minus.x, i64 %quadrant.minus, i64 %quadrant
  %o0 = insertvalue {_ONE} poison, double %high, 0
  %o1 = insertvalue {_ONE} %o0, double %low, 1
  %o2 = insertvalue {_ONE} %o1, i64 %n, 2
  ret {_ONE} %o2
}}"""
