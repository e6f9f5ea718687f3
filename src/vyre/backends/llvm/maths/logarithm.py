"""log, log2, log10, log1p: x = m 2^e with m between sqrt(1/2) and sqrt(2), then log(m).

Single precision uses a polynomial in f = m - 1; double precision one in s = f / (2 + f), with the
parts of the result added from small to large. The other bases in single precision go through
double lanes.
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from vyre.backends.llvm.maths.exponential import FORMATS
from vyre.backends.llvm.maths.ssa import Kind, Value, horner, madd
from vyre.backends.llvm.maths.tables import LOG_RATIO, LOG_SHORT, LOG_SINGLE
from vyre.record import dataclass

LOG2_E: Final = 1.4426950408889634
_LOG10_E: Final = 0.4342944819032518
_LOG10_2: Final = 0.3010299956639812
_LN_2: Final = 0.6931471805599453

# Leading 32 bits and the rest: products with a cleared f are exact.
_LOG2_E_PARTS: Final = (1.4426950407214463, 1.6751713164886512e-10)
_LOG10_E_PARTS: Final = (0.4342944818781689, 2.5082946711645275e-11)
_LOG10_2_PARTS: Final = (0.3010299955494702, 1.1451100898021838e-10)


@dataclass(frozen=True, slots=True)
class _Split:
    """Constants that take a float apart."""

    smallest: float
    """The smallest normal number."""
    upscale: float
    upscale_log2: int
    sqrt_half: int
    """Bits of sqrt(1/2), where mantissas begin."""
    one: int
    """Bits of 1."""
    mantissa_mask: int
    counter: int
    """Bits of a float whose last bit is worth 1: or-ing an integer into it adds the integer."""
    counter_value: float


_SPLITS: Final[dict[Kind, _Split]] = {
    "f32": _Split(
        smallest=2.0**-126,
        upscale=2.0**24,
        upscale_log2=24,
        sqrt_half=0x3F3504F3,
        one=0x3F800000,
        mantissa_mask=0x007FFFFF,
        counter=0x4B000000,
        counter_value=2.0**23,
    ),
    "f64": _Split(
        smallest=2.0**-1022,
        upscale=2.0**54,
        upscale_log2=54,
        sqrt_half=0x3FE6A09E667F3BCD,
        one=0x3FF0000000000000,
        mantissa_mask=0x000FFFFFFFFFFFFF,
        counter=0x4330000000000000,
        counter_value=2.0**52,
    ),
}


def split(x: Value, *, subnormals: bool = True) -> tuple[Value, Value]:
    """M - 1 and e, both floats, with x = m 2^e and m between sqrt(1/2) and sqrt(2); for x > 0."""
    form, exponents = _SPLITS[x.kind], FORMATS[x.kind]
    offset = x.code.const(x.kind, -(form.counter_value + exponents.bias))
    if subnormals:
        small = x < form.smallest
        x = small.select(x * form.upscale, x)
        offset = small.select(offset - float(form.upscale_log2), offset)
    shifted = x.bits() + (form.one - form.sqrt_half)
    mantissa = (shifted & form.mantissa_mask) + form.sqrt_half
    counted = (shifted >> exponents.mantissa) | form.counter
    return mantissa.bits() - 1.0, counted.bits() + offset


def _at_edges(x: Value, result: Value) -> Value:
    """What a logarithm is at zero, below zero, at infinity and at NaN."""
    positive = (x < inf).select(result, x)
    nonnegative = (x < 0.0).select(nan, positive)
    return x.equals(0.0).select(-inf, nonnegative)


def log(x: Value) -> Value:
    """The natural logarithm."""
    f, e = split(x)
    form = FORMATS[x.kind]
    if x.kind == "f32":
        z = f * f
        y = madd(e, form.ln2_low, f * z * horner(f, LOG_SINGLE))
        y = madd(z, -0.5, y)
        return _at_edges(x, madd(e, form.ln2_high, f + y))
    half_square, tail = _ratio_parts(f)
    low = madd(e, form.ln2_low, tail)
    return _at_edges(x, e * form.ln2_high - ((half_square - low) - f))


def _ratio_parts(f: Value) -> tuple[Value, Value]:
    """h and t with log(1 + f) = f - h + t, where h = f^2/2 and t is small."""
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return half_square, s * (half_square + z * horner(z, LOG_RATIO))


def _log_short(f: Value) -> Value:
    """log(1 + f) in double lanes to single precision and some more."""
    z = f * f
    return madd(f * z, horner(f, LOG_SHORT), madd(z, -0.5, f))


def _cleared(x: Value) -> Value:
    """X with its low 32 bits cleared."""
    return (x.bits() & -(1 << 32)).bits()


def log2(x: Value) -> Value:
    """The logarithm to base 2."""
    if x.kind == "f32":
        return _at_edges(x, log2_single(x.widen()).narrow())
    f, e = split(x)
    high, low = _log_parts(f)
    return _at_edges(x, _in_base(high, low, e, _LOG2_E_PARTS, None))


def log2_single(x: Value) -> Value:
    """The logarithm to base 2 of a positive single in double lanes, to 38 bits."""
    f, e = split(x, subnormals=False)
    return madd(_log_short(f), LOG2_E, e)


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    f, e = split(x.widen() if x.kind == "f32" else x, subnormals=x.kind != "f32")
    if x.kind == "f32":
        return _at_edges(x, madd(_log_short(f), _LOG10_E, e * _LOG10_2).narrow())
    high, low = _log_parts(f)
    return _at_edges(x, _in_base(high, low, e, _LOG10_E_PARTS, _LOG10_2_PARTS))


def _log_parts(f: Value) -> tuple[Value, Value]:
    """log(1 + f) as a number with 32 free low bits and a correction."""
    half_square, tail = _ratio_parts(f)
    high = _cleared(f - half_square)
    return high, ((f - high) - half_square) + tail


def _in_base(
    high: Value,
    low: Value,
    e: Value,
    factor: tuple[float, float],
    per_exponent: tuple[float, float] | None,
) -> Value:
    """(high + low) times the factor, plus e times its own; factors are in two parts."""
    main = high * factor[0]
    rest = (low + high) * factor[1] + low * factor[0]
    if per_exponent is None:
        whole = e
    else:
        whole = e * per_exponent[0]
        rest = rest + e * per_exponent[1]
    total = whole + main
    return rest + ((whole - total) + main) + total


def log1p(x: Value) -> Value:
    """log(1 + x), exact to the last bits near 0 too."""
    wide = x.widen() if x.kind == "f32" else x
    u = wide + 1.0
    f, e = split(u, subnormals=False)
    # What rounding 1 + x lost, which matters while u is near 1 and x is not.
    lost = (wide > 1.0).select(1.0 - (u - wide), wide - (u - 1.0)) / u
    if x.kind == "f32":
        result = (madd(e, _LN_2, _log_short(f)) + lost).narrow()
    else:
        form = FORMATS["f64"]
        half_square, tail = _ratio_parts(f)
        low = (e * form.ln2_low + lost) + tail
        result = e * form.ln2_high - ((half_square - low) - f)
    positive = (x < inf).select(result, x)
    in_domain = (x < -1.0).select(nan, positive)
    bounded = x.equals(-1.0).select(-inf, in_domain)
    return x.equals(0.0).select(x, bounded)
