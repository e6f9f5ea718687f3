"""What an expression of a kernel can be while the kernel is being translated."""

from __future__ import annotations

from enum import Enum

from vyre import ir
from vyre.ir.buffer import is_layout
from vyre.record import dataclass

Key = tuple[object, ...]
"""Names one variable of one (inlined) function, the same in every attempt at translating it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python value that is known now; it takes the type of whatever it meets."""

    value: int | float | bool | str


class Form(Enum):
    """What the form of an index tells about its sign; the value is what messages call it."""

    NATURAL = "index"
    """Never negative."""
    SIGNED = "signed index"
    """Something was subtracted: it may be negative."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that the kernel computes."""

    expr: ir.AnyExpr
    dtype: ir.DataType
    soft: frozenset[Key] = frozenset()
    """Variables that a literal began, whose type may still change; empty once that is settled."""
    form: Form | None = None
    """Of an index, which takes the type of what it meets; its expression is of the type `u32`."""

    @property
    def shown(self) -> str:
        """Its type, for a message."""
        return str(self.dtype) if self.form is None else self.form.value

    @property
    def named(self) -> str:
        """What it is, for a message that says what was found."""
        return str(self.dtype) if self.form is None else "an index"


@dataclass(frozen=True, slots=True)
class Steps:
    """Where the elements of a view lie in its buffer, which may hold others between them."""

    start: ir.AnyExpr
    along: tuple[ir.AnyExpr | None, ...]
    """The distance to the next element along each axis; None where it is the neighbour."""


@dataclass(frozen=True, slots=True)
class Array:
    """A buffer: a parameter, shared memory, or an array of each invocation's own."""

    name: str
    dtype: ir.DataType
    rank: int
    shape: tuple[ir.AnyExpr, ...]
    writable: bool = True
    steps: Steps | None = None
    """None where the elements fill the buffer in row-major order."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`x.shape`."""

    array: Array


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an array, such as `h.atomic_add`."""

    array: Array
    name: str


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple of values."""

    items: tuple[Value, ...]
    is_table: bool = False
    """Whether it is a tuple from outside of the kernel, or bytes: it is never held in variables."""
    of_bytes: bool = False
    """Whether it is bytes, which equal no tuple."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Anything else that a name can mean: a module, a type, a function."""

    target: object


Value = Constant | Scalar | Array | Shape | Method | Several | Thing


NOTHING = Several(())
"""What a call gives that gives nothing."""


def is_settled(expr: ir.AnyExpr) -> bool:
    """Whether using the expression twice costs nothing."""
    return isinstance(expr, (ir.Lit, ir.Var)) or (
        isinstance(expr, ir.Load) and is_layout(expr.buffer)
    )


def describe(value: Value) -> str:
    """What a value is, for a message."""
    match value:
        case Constant(found):
            return f"the constant {found!r}"
        case Scalar():
            if value.form is not None:
                return "an index"
            return f"a value of type {value.dtype}"
        case Array(name):
            return f"the array {name!r}"
        case Shape(array):
            return f"the shape of {array.name!r}"
        case Method(array, name):
            return f"the method {array.name}.{name}"
        case Several():
            return "a tuple"
        case Thing(target):
            name = getattr(target, "__name__", None)
            return f"{type(target).__name__} {name or target!r}"[:60]
