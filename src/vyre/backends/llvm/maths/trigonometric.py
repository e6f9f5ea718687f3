"""sin, cos, tan: reduction to |r| <= pi/4, two polynomials, and the quadrant picks and signs."""

from __future__ import annotations

from vyre.backends.llvm.maths.argument_reduction import reduce_double, reduce_single
from vyre.backends.llvm.maths.ssa import Value, horner, madd
from vyre.backends.llvm.maths.tables import COS, COS_SHORT, SIN, SIN_SHORT, Table


def sin(x: Value) -> Value:
    """The sine."""
    return x.equals(0.0).select(x, _of_quadrant(x, 0))


def cos(x: Value) -> Value:
    """The cosine."""
    return _of_quadrant(x, 1)


def _of_quadrant(x: Value, ahead: int) -> Value:
    if x.kind == "f32":
        wide, n = reduce_single(x)
        r = wide.narrow()
        sine, cosine = _sine(r, SIN["f32"]), _cosine(r, COS["f32"])
    else:
        high, low, n = reduce_double(x)
        sine, cosine = _sine_double(high, low), _cosine_double(high, low)
    n = n + ahead if ahead else n
    value = (n & 1).differs(0).select(cosine, sine)
    sign = (n & 2) << (30 if x.kind == "f32" else 62)
    return (value.bits() ^ sign).bits()


def tan(x: Value) -> Value:
    """The tangent."""
    if x.kind == "f32":
        r, n = reduce_single(x)
        sine, cosine = _sine(r, SIN_SHORT), _cosine(r, COS_SHORT)
        odd = (n.widen() & 1).differs(0)
    else:
        high, low, n = reduce_double(x)
        sine, cosine = _sine_double(high, low), _cosine_double(high, low)
        odd = (n & 1).differs(0)
    ratio = odd.select(-cosine, sine) / odd.select(sine, cosine)
    return x.equals(0.0).select(x, ratio.narrow() if x.kind == "f32" else ratio)


def _sine(r: Value, table: Table) -> Value:
    z = r * r
    return madd(r * z, horner(z, table), r)


def _cosine(r: Value, table: Table) -> Value:
    z = r * r
    return madd(z * z, horner(z, table), madd(z, -0.5, 1.0))


def _sine_double(r: Value, low: Value) -> Value:
    """The sine of r + low."""
    table = SIN["f64"]
    z = r * r
    cube = z * r
    rest = horner(z, table[1:])
    return r - ((z * (0.5 * low - cube * rest) - low) - cube * table[0])


def _cosine_double(r: Value, low: Value) -> Value:
    """The cosine of r + low."""
    z = r * r
    half = 0.5 * z
    main = 1.0 - half
    rest = z * z * horner(z, COS["f64"]) - r * low
    return main + (((1.0 - main) - half) + rest)
