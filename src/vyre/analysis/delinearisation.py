"""Delinearisation: the subscripts of a row-major index.

An index like `(y * w + x) * 3 + c` has one subscript for each of several axes: here the global ids
along two axes of the grid, and a loop counter or a constant. The sizes of all axes but the first
are constants, extents of arrays, or scalar parameters of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.analysis.coverage_types import ALL, NUMBER, Along, At, Extent, Size, Subscript, UpTo
from vyre.ir.buffer import SHAPE
from vyre.record import dataclass

WORDS = (ir.DataType.U32, ir.DataType.I32)
LARGEST_SIZE = 1 << 16
"""Of an axis whose size is a constant, in elements."""


@dataclass(frozen=True, slots=True)
class Subscripts:
    """One subscript for each axis, and the sizes of all axes but the first."""

    along: tuple[Subscript, ...]
    sizes: tuple[Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that subscripts and sizes may use."""

    counters: Mapping[str, Extent]
    """Counters of the surrounding loops that begin at 0, with the end of each."""
    numbers: frozenset[str]
    """32-bit scalar parameters."""


def delinearise(index: ir.AnyExpr, scope: Scope) -> Subscripts | None:
    """The subscripts of an index; None if it has another form.

    Signed and unsigned arithmetic are not distinguished: an index that overflows 32 bits is out of
    bounds in every array that is analysed.
    """
    found = _sum(index, scope)
    if found is None:
        return None
    axes = [place.axis for place in found.along if isinstance(place, Along)]
    used = [place.counter for place in found.along if isinstance(place, UpTo)]
    if len(set(axes)) < len(axes) or sorted(used) != sorted(scope.counters):
        # An axis used twice is a diagonal. A loop whose counter is no subscript may not run.
        return None
    return found


def subscript_of(expr: ir.AnyExpr, scope: Scope) -> Subscript | None:
    """The subscript of one axis that an expression is; None if it has another form."""
    match without_casts(expr, scope.numbers):
        case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis):
            return Along(axis)
        case ir.Lit(dtype, _) as literal if dtype in WORDS and int(literal.value) >= 0:
            return At(int(literal.value))
        case ir.Var(name) if name in scope.counters:
            return UpTo(name, scope.counters[name])
        case _:
            return None


def extent_of(expr: ir.AnyExpr, numbers: frozenset[str]) -> Extent | None:
    """An extent of an array, its length, or a scalar parameter."""
    match without_casts(expr, numbers):
        case ir.BufLen(buffer):
            return buffer, ALL
        case ir.Load(buffer, ir.Lit() as axis) if buffer.endswith(SHAPE):
            return buffer.removesuffix(SHAPE), int(axis.value)
        case ir.Load(buffer, _) if buffer in numbers:
            return buffer, NUMBER
        case _:
            return None


def without_casts(expr: ir.AnyExpr, numbers: frozenset[str]) -> ir.AnyExpr:
    """An expression without casts between `i32` and `u32`."""
    while isinstance(expr, ir.Cast) and expr.dtype in WORDS and _is_word(expr.value, numbers):
        expr = expr.value
    return expr


def _is_word(expr: ir.AnyExpr, numbers: frozenset[str]) -> bool:
    """True if an expression is certainly 32 bits wide."""
    match expr:
        case ir.Lit(dtype, _):
            return dtype in WORDS
        case ir.Cast(_, dtype):
            return dtype in WORDS
        case ir.Binary(_, left, right):
            return _is_word(left, numbers) and _is_word(right, numbers)
        case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, _) | ir.BufLen():
            return True
        case ir.Load(buffer, _):
            return buffer.endswith(SHAPE) or buffer in numbers
        case ir.Var():
            # A loop counter: all other variables have been substituted.
            return True
        case _:
            return False


def _sum(index: ir.AnyExpr, scope: Scope) -> Subscripts | None:
    index = without_casts(index, scope.numbers)
    place = subscript_of(index, scope)
    if place is not None:
        return Subscripts((place,))
    match index:
        case ir.Binary(ir.BinOp.MUL, left, right):
            return _product(left, right, scope) or _product(right, left, scope)
        case ir.Binary(ir.BinOp.ADD, left, right):
            one, other = _sum(left, scope), _sum(right, scope)
            if one is None or other is None:
                return None
            if len(one.along) < len(other.along):
                one, other = other, one
            return _added(one, other)
        case _:
            return None


def _product(inner: ir.AnyExpr, by: ir.AnyExpr, scope: Scope) -> Subscripts | None:
    """Match `inner * size`: one axis more, with subscript 0."""
    by = without_casts(by, scope.numbers)
    size: Size | None = extent_of(by, scope.numbers)
    if isinstance(by, ir.Lit):
        size = int(by.value)
        if not 1 < size <= LARGEST_SIZE:
            return None
    found = None if size is None else _sum(inner, scope)
    if size is None or found is None:
        return None
    return Subscripts((*found.along, At(0)), (*found.sizes, size))


def _added(one: Subscripts, other: Subscripts) -> Subscripts | None:
    """Add two indices with equal trailing axes, of which one has subscript 0 along each axis."""
    count = len(other.sizes)
    if other.sizes != one.sizes[len(one.sizes) - count :]:
        return None
    before = len(one.along) - len(other.along)
    made = list(one.along[:before])
    for left, right in zip(one.along[before:], other.along, strict=True):
        if At(0) not in (left, right):
            return None
        made.append(right if left == At(0) else left)
    return Subscripts(tuple(made), one.sizes)


__all__ = [
    "WORDS",
    "Scope",
    "Subscripts",
    "delinearise",
    "extent_of",
    "subscript_of",
    "without_casts",
]
