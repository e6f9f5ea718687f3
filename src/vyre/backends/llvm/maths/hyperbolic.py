"""sinh, cosh, tanh from e^x - 1; single precision goes through double lanes."""

from __future__ import annotations

from vyre.backends.llvm.maths.exponential import expm1_parts, reduce_ln2, scale
from vyre.backends.llvm.maths.ssa import Value, clamp, horner, madd
from vyre.backends.llvm.maths.tables import EXP, EXPM1, EXPM1_SHORT


def _wide(x: Value) -> Value:
    return x.widen() if x.kind == "f32" else x


def _like(x: Value, result: Value) -> Value:
    return result.narrow() if x.kind == "f32" else result


def sinh(x: Value) -> Value:
    """The hyperbolic sine: (E + E / (E + 1)) / 2 with E = e^|x| - 1."""
    a = clamp(_wide(x).absolute(), 0.0, 711.0)
    mantissa, n = expm1_parts(a, EXPM1_SHORT if x.kind == "f32" else EXPM1["f64"])
    half = scale(mantissa, n - 1)
    # Far out the second term is nothing, and its quotient of infinities would be NaN.
    small = (a > 40.0).select(0.0, half / (half * 2.0 + 1.0))
    result = half + small
    return _like(x, result).with_sign_of(x)


def cosh(x: Value) -> Value:
    """The hyperbolic cosine: e^|x| / 2 + 1 / (2 e^|x|)."""
    a = clamp(_wide(x).absolute(), 0.0, 711.0)
    if x.kind == "f32":
        mantissa, n = expm1_parts(a, EXPM1_SHORT)
        half = scale(mantissa, n - 1) + 0.5
    else:
        r, n = reduce_ln2(a)
        half = scale(madd(r * r, horner(r, EXP["f64"]), r) + 1.0, n - 1)
    return _like(x, half + 0.25 / half)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent: E / (E + 2) with E = e^(2|x|) - 1."""
    a = clamp(_wide(x).absolute(), 0.0, 22.0)
    mantissa, n = expm1_parts(a + a, EXPM1_SHORT if x.kind == "f32" else EXPM1["f64"])
    e = scale(mantissa, n)
    return _like(x, e / (e + 2.0)).with_sign_of(x)
