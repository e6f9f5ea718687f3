"""Functions that carry a bound instead of an exact result.

Half and single precision are computed in double precision and rounded, so they are the correctly
rounded result but for very rare cases. Double precision is computed in numpy's `longdouble`, which
has 64 digits on x86-64; where it is no longer than a double, results are those of the C library.
Special values follow Annex F of the C standard: pow(x, 0) is 1, atan2(-0, -1) is -π.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vyre.ir import BinOp, UnOp
from vyre.semantics.representation import Array


def _reciprocal_root(a: Array) -> Array:
    return a.dtype.type(1) / np.sqrt(a)


def _wider(a: Array) -> Array:
    wide = a.astype(np.longdouble if a.dtype == np.float64 else np.float64)
    # Widened halves may still signal, and the C library gives NaN for pow(1, y) of such a y.
    return np.where(np.isnan(wide), np.nan, wide)


def _one(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def rounded(a: Array) -> Array:
        return function(_wider(a)).astype(a.dtype)

    return rounded


def _two(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def rounded(a: Array, b: Array) -> Array:
        return function(_wider(a), _wider(b)).astype(a.dtype)

    return rounded


def _power(a: Array, b: Array) -> Array:
    # glibc gives powl(-inf, -2**63) as infinite; in the type itself infinite bases are exact.
    return np.where(np.isinf(a), np.power(a, b), _two(np.power)(a, b))


UNARY: dict[UnOp, Callable[[Array], Array]] = {
    UnOp.RSQRT: _one(_reciprocal_root),
    UnOp.EXP: _one(np.exp),
    UnOp.EXP2: _one(np.exp2),
    UnOp.EXPM1: _one(np.expm1),
    UnOp.LOG: _one(np.log),
    UnOp.LOG2: _one(np.log2),
    UnOp.LOG10: _one(np.log10),
    UnOp.LOG1P: _one(np.log1p),
    UnOp.SIN: _one(np.sin),
    UnOp.COS: _one(np.cos),
    UnOp.TAN: _one(np.tan),
    UnOp.ASIN: _one(np.arcsin),
    UnOp.ACOS: _one(np.arccos),
    UnOp.ATAN: _one(np.arctan),
    UnOp.SINH: _one(np.sinh),
    UnOp.COSH: _one(np.cosh),
    UnOp.TANH: _one(np.tanh),
}
BINARY: dict[BinOp, Callable[[Array, Array], Array]] = {
    BinOp.POW: _power,
    BinOp.ATAN2: _two(np.arctan2),
}
