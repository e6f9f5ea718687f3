"""Which elements invocations store to, where an index tells.

An index like `(y * w + x) * 3 + c` has a place along each of several axes: here positions along two
axes of the grid, and what a loop or a number says. The sizes of all axes but the first are numbers,
extents of arrays, or numbers that the kernel is given.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.front.parameters import SHAPE
from vyre.front.written import ALL, NUMBER, Along, At, Extent, Place, Size, UpTo
from vyre.ir import (
    AnyExpr,
    Binary,
    BinOp,
    BufLen,
    Builtin,
    BuiltinKind,
    Cast,
    DataType,
    Lit,
    Load,
    Var,
)
from vyre.record import dataclass

WORDS = (DataType.U32, DataType.I32)
LARGEST_SIZE = 1 << 16
"""Of an axis whose size is a number."""


@dataclass(frozen=True, slots=True)
class Places:
    """A place along each of some axes, and the sizes of all of these but the first."""

    along: tuple[Place, ...]
    sizes: tuple[Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What names stand for."""

    counters: Mapping[str, Extent]
    """Of loops around that begin at 0, and where these end."""
    numbers: frozenset[str]
    """Words that the kernel is given."""


def places_of(index: AnyExpr, scope: Scope) -> Places | None:
    """The places along axes that an index tells; None if it is none of that kind.

    Arithmetic is the same with and without sign: an index that does not fit into a word is no
    element of any array that counts.
    """
    found = _sum(index, scope)
    if found is None:
        return None
    axes = [place.axis for place in found.along if isinstance(place, Along)]
    used = [place.counter for place in found.along if isinstance(place, UpTo)]
    if len(set(axes)) < len(axes) or sorted(used) != sorted(scope.counters):
        # Twice the same is a diagonal. And a loop that tells no place may have no rounds.
        return None
    return found


def place_of(expr: AnyExpr, scope: Scope) -> Place | None:
    """What an expression says of one axis."""
    match without_casts(expr, scope.numbers):
        case Builtin(BuiltinKind.GLOBAL_ID, axis):
            return Along(axis)
        case Lit(dtype, _) as literal if dtype in WORDS and int(literal.value) >= 0:
            return At(int(literal.value))
        case Var(name) if name in scope.counters:
            return UpTo(name, scope.counters[name])
        case _:
            return None


def extent_of(expr: AnyExpr, numbers: frozenset[str]) -> Extent | None:
    """An extent of an array, its length, or a word that the kernel is given."""
    match without_casts(expr, numbers):
        case BufLen(buffer):
            return buffer, ALL
        case Load(buffer, Lit() as axis) if buffer.endswith(SHAPE):
            return buffer.removesuffix(SHAPE), int(axis.value)
        case Load(buffer, _) if buffer in numbers:
            return buffer, NUMBER
        case _:
            return None


def without_casts(expr: AnyExpr, numbers: frozenset[str]) -> AnyExpr:
    """A word as it was before it was taken with or without sign."""
    while isinstance(expr, Cast) and expr.dtype in WORDS and _is_word(expr.value, numbers):
        expr = expr.value
    return expr


def _is_word(expr: AnyExpr, numbers: frozenset[str]) -> bool:
    """Whether an expression is 32 bits wide for sure."""
    match expr:
        case Lit(dtype, _):
            return dtype in WORDS
        case Cast(_, dtype):
            return dtype in WORDS
        case Binary(_, left, right):
            return _is_word(left, numbers) and _is_word(right, numbers)
        case Builtin(BuiltinKind.GLOBAL_ID, _) | BufLen():
            return True
        case Load(buffer, _):
            return buffer.endswith(SHAPE) or buffer in numbers
        case Var():
            # Counters, and nothing else: other names are written out.
            return True
        case _:
            return False


def _sum(index: AnyExpr, scope: Scope) -> Places | None:
    index = without_casts(index, scope.numbers)
    place = place_of(index, scope)
    if place is not None:
        return Places((place,))
    match index:
        case Binary(BinOp.MUL, left, right):
            return _product(left, right, scope) or _product(right, left, scope)
        case Binary(BinOp.ADD, left, right):
            one, other = _sum(left, scope), _sum(right, scope)
            if one is None or other is None:
                return None
            if len(one.along) < len(other.along):
                one, other = other, one
            return _added(one, other)
        case _:
            return None


def _product(inner: AnyExpr, by: AnyExpr, scope: Scope) -> Places | None:
    """One axis more, with a place at its beginning."""
    by = without_casts(by, scope.numbers)
    size: Size | None = extent_of(by, scope.numbers)
    if isinstance(by, Lit):
        size = int(by.value)
        if not 1 < size <= LARGEST_SIZE:
            return None
    found = None if size is None else _sum(inner, scope)
    if size is None or found is None:
        return None
    return Places((*found.along, At(0)), (*found.sizes, size))


def _added(one: Places, other: Places) -> Places | None:
    """Two sums of places along the same last axes as one, where each axis has a place in one."""
    count = len(other.sizes)
    if other.sizes != one.sizes[len(one.sizes) - count :]:
        return None
    before = len(one.along) - len(other.along)
    made = list(one.along[:before])
    for left, right in zip(one.along[before:], other.along, strict=True):
        if At(0) not in (left, right):
            return None
        made.append(right if left == At(0) else left)
    return Places(tuple(made), one.sizes)


__all__ = [
    "ALL",
    "NUMBER",
    "WORDS",
    "Along",
    "At",
    "Extent",
    "Place",
    "Places",
    "Scope",
    "Size",
    "UpTo",
    "extent_of",
    "place_of",
    "places_of",
    "without_casts",
]
