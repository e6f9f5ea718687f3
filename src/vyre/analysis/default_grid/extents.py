"""Launch-time integers: expressions over lengths, extents and scalar arguments of a call.

Plain values, cached with a translated kernel. The host evaluates them with Python integers, which
do not overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from vyre.record import dataclass


class Sizes(Protocol):
    """What is known of the arguments of a call."""

    def length(self, buffer: str) -> int:
        """How many elements a buffer has."""
        ...

    def extent(self, buffer: str, axis: int) -> int:
        """How long an array is along an axis."""
        ...

    def number(self, name: str) -> int:
        """The value of a parameter that is one integer."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the kernel's own."""

    value: int

    def of(self, _: Sizes) -> int:
        """Its value in a call."""
        return self.value


@dataclass(frozen=True, slots=True)
class Length:
    """The number of elements of a buffer."""

    buffer: str

    def of(self, sizes: Sizes) -> int:
        """Its value in a call."""
        return sizes.length(self.buffer)


@dataclass(frozen=True, slots=True)
class Axis:
    """How long an array is along one of its axes."""

    buffer: str
    axis: int

    def of(self, sizes: Sizes) -> int:
        """Its value in a call."""
        return sizes.extent(self.buffer, self.axis)


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that is one integer."""

    name: str
    is_signed: bool = False

    def of(self, sizes: Sizes) -> int:
        """Its value in a call."""
        return sizes.number(self.name)


def _positive(number: int, _: int) -> int:
    if number <= 0:
        raise ZeroDivisionError(f"a division by {number}")
    return number


def ceil_divide(number: int, size: int) -> int:
    """How many pieces of a positive size cover a number of elements; 0 for a negative number."""
    _positive(size, 0)
    return -(-number // size) if number > 0 else 0


def _floor_divide(number: int, by: int) -> int:
    if by == 0:
        raise ZeroDivisionError("a division by 0")
    return number // by


def _remainder(number: int, by: int) -> int:
    if by == 0:
        raise ZeroDivisionError("a division by 0")
    return number % by


def _past(number: int, wraps: int) -> int:
    """More than any id if a number is past where a condition may hold again, else 0."""
    return 1 << 32 if number > wraps else 0


OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": _floor_divide,
    "%": _remainder,
    "ceil": ceil_divide,
    "positive": _positive,
    "min": min,
    "max": max,
    "least": min,
    "past": _past,
}
"""By name; `least` is the lesser of two bounds, of which one may have no value in some call."""


def _least(one: Callable[[], int], other: Callable[[], int]) -> int:
    """The lesser of two bounds, or the one that has a value."""
    try:
        first = one()
    except ZeroDivisionError:
        return other()
    try:
        return min(first, other())
    except ZeroDivisionError:
        return first


FUNCTIONS: Final[dict[str, Callable[..., int]]] = {
    **{name: apply for name, apply in OPERATIONS.items() if name.isidentifier()},
    "least": _least,
}
"""What expressions call, by name."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Two integers and what is made of them."""

    op: str
    left: Extent
    right: Extent

    def of(self, sizes: Sizes) -> int:
        """Its value in a call; a ZeroDivisionError if it has none."""
        if self.op == "least":
            return _least(lambda: self.left.of(sizes), lambda: self.right.of(sizes))
        return OPERATIONS[self.op](self.left.of(sizes), self.right.of(sizes))


Atom = Length | Axis | Number | Operation
Extent = Constant | Atom


class Reads(Protocol):
    """How an expression reads the arguments of a call; a KeyError for one that it cannot."""

    def length(self, buffer: str) -> str:
        """The number of elements of a buffer."""
        ...

    def extent(self, buffer: str, axis: int) -> str:
        """How long an array is along an axis."""
        ...

    def number(self, name: str) -> str:
        """The value of a parameter that is one integer."""
        ...


_INFIX: Final = frozenset(("+", "-", "*", "//", "%"))


def expression(extent: Extent, reads: Reads) -> str:
    """An extent as a Python expression, which calls the functions of `FUNCTIONS`.

    Evaluated, it gives what `of` gives, or raises a ZeroDivisionError where `of` does.
    """
    match extent:
        case Constant(value):
            return f"({value})"
        case Length(buffer):
            return reads.length(buffer)
        case Axis(buffer, axis):
            return reads.extent(buffer, axis)
        case Number(name):
            return reads.number(name)
        case Operation(op, left, right):
            one, other = expression(left, reads), expression(right, reads)
            if op == "least":
                return f"least(lambda: {one}, lambda: {other})"
            return f"({one} {op} {other})" if op in _INFIX else f"{op}({one}, {other})"


def parts(extent: Extent) -> Iterator[Extent]:
    """An extent and everything that it is computed from."""
    stack = [extent]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, Operation):
            stack += (current.left, current.right)


def is_never_negative(extent: Extent) -> bool:
    """Whether no call makes an extent negative, as far as its operations tell."""
    match extent:
        case Constant(value):
            return value >= 0
        case Length() | Axis():
            return True
        case Number():
            return not extent.is_signed
        case Operation("max", left, right):
            return is_never_negative(left) or is_never_negative(right)
        case Operation("ceil" | "positive" | "past"):
            return True
        case Operation("%", _, right):
            return is_never_negative(right)
        case Operation(op, left, right):
            return op != "-" and is_never_negative(left) and is_never_negative(right)


# --- rows of a file -------------------------------------------------------------------------------


def to_row(extent: Extent) -> object:
    """An extent as JSON."""
    match extent:
        case Constant(value):
            return value
        case Length(buffer):
            return ["length", buffer]
        case Axis(buffer, axis):
            return ["extent", buffer, axis]
        case Number(name, is_signed):
            return ["number", name, is_signed]
        case Operation(op, left, right):
            return [op, to_row(left), to_row(right)]


def from_row(row: Any) -> Extent:
    """An extent from JSON; a ValueError or a TypeError for a row that says something else."""
    match row:
        case int() if type(row) is int:
            return Constant(row)
        case ["length", str(buffer)]:
            return Length(buffer)
        case ["extent", str(buffer), int(axis)]:
            return Axis(buffer, axis)
        case ["number", str(name), bool(is_signed)]:
            return Number(name, is_signed)
        case [str(op), left, right] if op in OPERATIONS:
            return Operation(op, from_row(left), from_row(right))
        case _:
            raise ValueError(row)


__all__ = [
    "FUNCTIONS",
    "Atom",
    "Axis",
    "Constant",
    "Extent",
    "Length",
    "Number",
    "Operation",
    "Reads",
    "Sizes",
    "ceil_divide",
    "expression",
    "from_row",
    "is_never_negative",
    "parts",
    "to_row",
]
