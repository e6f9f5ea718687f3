"""Mathematics for kernels, `vy.math`, under the names that numpy gives it."""

from __future__ import annotations

from typing import TypeVar

from vyre.front.intrinsics import outside

T = TypeVar("T")

pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")


def sqrt(x: float) -> float:
    """The square root."""
    outside("vy.math.sqrt")


def rsqrt(x: float) -> float:
    """One divided by the square root."""
    outside("vy.math.rsqrt")


def exp(x: float) -> float:
    """e to the power of x."""
    outside("vy.math.exp")


def exp2(x: float) -> float:
    """2 to the power of x."""
    outside("vy.math.exp2")


def expm1(x: float) -> float:
    """e to the power of x, minus 1."""
    outside("vy.math.expm1")


def log(x: float) -> float:
    """The natural logarithm."""
    outside("vy.math.log")


def log2(x: float) -> float:
    """The logarithm to base 2."""
    outside("vy.math.log2")


def log10(x: float) -> float:
    """The logarithm to base 10."""
    outside("vy.math.log10")


def log1p(x: float) -> float:
    """The natural logarithm of 1 + x."""
    outside("vy.math.log1p")


def sin(x: float) -> float:
    """The sine."""
    outside("vy.math.sin")


def cos(x: float) -> float:
    """The cosine."""
    outside("vy.math.cos")


def tan(x: float) -> float:
    """The tangent."""
    outside("vy.math.tan")


def arcsin(x: float) -> float:
    """The arc sine."""
    outside("vy.math.arcsin")


def arccos(x: float) -> float:
    """The arc cosine."""
    outside("vy.math.arccos")


def arctan(x: float) -> float:
    """The arc tangent."""
    outside("vy.math.arctan")


def arctan2(y: float, x: float) -> float:
    """The angle of the point (x, y), from -pi to pi."""
    outside("vy.math.arctan2")


def sinh(x: float) -> float:
    """The hyperbolic sine."""
    outside("vy.math.sinh")


def cosh(x: float) -> float:
    """The hyperbolic cosine."""
    outside("vy.math.cosh")


def tanh(x: float) -> float:
    """The hyperbolic tangent."""
    outside("vy.math.tanh")


def floor(x: float) -> float:
    """The greatest whole number that is not above x."""
    outside("vy.math.floor")


def ceil(x: float) -> float:
    """The least whole number that is not below x."""
    outside("vy.math.ceil")


def trunc(x: float) -> float:
    """x without its fraction, toward zero."""
    outside("vy.math.trunc")


def rint(x: float) -> float:
    """The nearest whole number, half to even."""
    outside("vy.math.rint")


def round_away(x: float) -> float:
    """The nearest whole number, half away from zero."""
    outside("vy.math.round_away")


def power(x: float, y: float) -> float:
    """x to the power of y."""
    outside("vy.math.power")


def copysign(x: float, y: float) -> float:
    """The magnitude of x with the sign of y."""
    outside("vy.math.copysign")


def fma(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once."""
    outside("vy.math.fma")


def isnan(x: float) -> bool:
    """Whether x is not a number."""
    outside("vy.math.isnan")


def isinf(x: float) -> bool:
    """Whether x is infinite."""
    outside("vy.math.isinf")


def isfinite(x: float) -> bool:
    """Whether x is a number and not infinite."""
    outside("vy.math.isfinite")


def absolute(x: T) -> T:
    """The magnitude; `abs(x)` is the same."""
    outside("vy.math.absolute")


def minimum(a: T, b: T) -> T:
    """The lesser; NaN if one of them is NaN, as in numpy."""
    outside("vy.math.minimum")


def maximum(a: T, b: T) -> T:
    """The greater; NaN if one of them is NaN, as in numpy."""
    outside("vy.math.maximum")


def fmin(a: T, b: T) -> T:
    """The lesser; an operand that is NaN is ignored."""
    outside("vy.math.fmin")


def fmax(a: T, b: T) -> T:
    """The greater; an operand that is NaN is ignored."""
    outside("vy.math.fmax")


def clip(x: T, low: T, high: T) -> T:
    """x, held between low and high; NaN if one of them is NaN, as in numpy."""
    outside("vy.math.clip")


def where(condition: bool, if_true: T, if_false: T) -> T:
    """`if_true` where the condition holds, else `if_false`; both are evaluated."""
    outside("vy.math.where")


def square(x: T) -> T:
    """x * x."""
    outside("vy.math.square")
