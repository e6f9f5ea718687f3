"""The tree of a pipeline: stages, and host statements around them.

It is data. `translate` makes it from the source of a function, `walk` executes it.
"""

from __future__ import annotations

from collections import Counter

from vyre.diagnostics import Span
from vyre.record import dataclass

Value = int | float | bool
"""A number of the host."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: Value


@dataclass(frozen=True, slots=True)
class Local:
    """A host number by name: a scalar parameter, a loop variable, an assigned name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Captured:
    """A name from outside of the function, and attributes of what it stands for.

    It is looked up in each call, as Python does.
    """

    path: tuple[str, ...]
    span: Span

    def __str__(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of an array along an axis; without an axis, its number of elements."""

    array: str
    axis: int | None
    span: Span
    is_limit: bool = False
    """True where the upper limit of counted scratch will do."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator or a function of numbers, by its Python spelling."""

    operator: str
    operands: tuple[HostExpr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    """`then if condition else otherwise`, and the short-circuit operators."""

    condition: HostExpr
    then: HostExpr
    otherwise: HostExpr


HostExpr = Number | Local | Captured | Extent | Operation | Conditional


@dataclass(frozen=True, slots=True)
class ArrayName:
    """An array by the name that stands for it at this point."""

    name: str
    span: Span


Argument = ArrayName | HostExpr


@dataclass(frozen=True, slots=True)
class Counted:
    """`vy.at_most(most, start=start), count=count`: a length that is on the device."""

    most: HostExpr
    start: HostExpr | None
    count: ArrayName


@dataclass(frozen=True, slots=True)
class Scratch:
    """`name = vy.scratch(element, extents)`, or `vy.scratch_like(like)`: zeros of this call."""

    name: str
    element: Captured | None
    extents: tuple[HostExpr, ...]
    like: str | None
    span: Span
    counted: Counted | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """`name = vy.flag()`: one `u32` on the device."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Stage:
    """A call of a kernel, an operation or a pipeline."""

    callee: Captured
    positional: tuple[Argument, ...]
    named: tuple[tuple[str, Argument], ...]
    grid: tuple[HostExpr, ...] | None
    elements: tuple[HostExpr, ...] | None
    results: tuple[str, ...]
    """Names for the arrays that a pipeline returns."""
    span: Span


@dataclass(frozen=True, slots=True)
class Copy:
    """`vy.copy(source, target)`: no effect where both names stand for one array."""

    source: ArrayName
    target: ArrayName
    span: Span


@dataclass(frozen=True, slots=True)
class Assign:
    """`a, b = b, a`: names for arrays and numbers; all values are read first."""

    targets: tuple[str, ...]
    values: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class For:
    """`for variable in range(start, stop, step)`, on the host."""

    variable: str
    start: HostExpr
    stop: HostExpr
    step: HostExpr
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Again:
    """`while vy.again(flag, most=most)`: once, then while a stage set the flag.

    The flag is cleared before each iteration.
    """

    flag: ArrayName
    most: HostExpr
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    """`if condition`, on the host."""

    condition: HostExpr
    then: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True)
class When:
    """`if vy.when(flag)`, on the device."""

    flag: ArrayName
    then: Body
    otherwise: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Keep:
    """`vy.keep(array)`: it is in memory when the call ends."""

    array: ArrayName


@dataclass(frozen=True, slots=True)
class Return:
    """`return a, b`: scratch that becomes the caller's."""

    arrays: tuple[ArrayName, ...]
    is_tuple: bool
    span: Span


Statement = Scratch | Flag | Stage | Copy | Assign | For | Again | If | When | Keep | Return
Body = tuple[Statement, ...]


def statements(body: Body) -> list[Statement]:
    """All statements of a body, with those inside of others, in the order of the text."""
    found: list[Statement] = []
    for statement in body:
        found.append(statement)
        match statement:
            case For() | Again():
                found += statements(statement.body)
            case If() | When():
                found += statements(statement.then) + statements(statement.otherwise)
            case _:
                pass
    return found


def limits_of(expr: HostExpr) -> HostExpr:
    """The expression with the upper limits of counted scratch as its lengths."""
    match expr:
        case Extent(array, axis, span):
            return Extent(array, axis, span, is_limit=True)
        case Operation(operator, operands, span):
            return Operation(operator, tuple(limits_of(each) for each in operands), span)
        case Conditional(condition, then, otherwise):
            return Conditional(limits_of(condition), limits_of(then), limits_of(otherwise))
        case Number() | Local() | Captured():
            return expr


def bound_names(statement: Statement) -> tuple[str, ...]:
    """The names that a statement itself assigns to."""
    match statement:
        case Scratch(name) | Flag(name):
            return (name,)
        case Assign(targets):
            return targets
        case For(variable):
            return (variable,)
        case Stage():
            return statement.results
        case _:
            return ()


def used_arrays(statement: Statement) -> tuple[str, ...]:
    """The arrays that a statement itself names, made or used; not what is inside of it."""
    match statement:
        case Scratch(name, _, _, like, _, counted):
            by = () if counted is None else (counted.count.name,)
            return (name, *by) if like is None else (name, like)
        case Flag(name):
            return (name,)
        case Stage():
            values = (*statement.positional, *(value for _, value in statement.named))
            arrays = tuple(each.name for each in values if isinstance(each, ArrayName))
            return (*arrays, *statement.results)
        case Copy(source, target):
            return (source.name, target.name)
        case Assign(targets, values):
            return (*targets, *(each.name for each in values if isinstance(each, ArrayName)))
        case Again(flag) | When(flag):
            return (flag.name,)
        case Keep(array):
            return (array.name,)
        case Return(arrays):
            return tuple(each.name for each in arrays)
        case For() | If():
            return ()


def uses(body: Body) -> Counter[str]:
    """How often a body names each array, with the statements inside of others."""
    return Counter(name for each in statements(body) for name in used_arrays(each))
