"""Values of host expressions: Python's own arithmetic on lengths and scalar arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import numpy as np

from vyre.diagnostics import Location, PlanError, Span
from vyre.diagnostics.codes import pipeline as codes
from vyre.front.source import MISSING, Source
from vyre.pipelines import tree
from vyre.pipelines.counts import CountedScratch
from vyre.pipelines.stages import resolve
from vyre.signals import is_from_handler

_python: Any = operator
_OPERATORS: Mapping[str, Callable[..., Any]] = {
    **{"+": _python.add, "-": _python.sub, "*": _python.mul, "//": _python.floordiv},
    **{"%": _python.mod, "/": _python.truediv, "**": _python.pow, "<<": _python.lshift},
    **{">>": _python.rshift, "&": _python.and_, "|": _python.or_, "^": _python.xor},
    **{"<": _python.lt, "<=": _python.le, ">": _python.gt, ">=": _python.ge},
    **{"==": _python.eq, "!=": _python.ne, "neg": _python.neg, "not": _python.not_},
    **{"~": _python.invert, "min": min, "max": max, "abs": abs, "int": int, "bool": bool},
}
_LONGEST = 4096
"""Bits of an integer: a size never has that many, and a shift may make a machine run out."""


Read = tuple[Source, tree.Captured, object]
"""A name from outside that a call has looked up, and what it stood for."""


class Frame:
    """The names of one call of a pipeline, and what they stand for."""

    __slots__ = ("_reads", "_source", "arrays", "numbers", "read_only")

    def __init__(
        self,
        source: Source,
        arrays: Mapping[str, Any],
        numbers: Mapping[str, tree.Value],
        reads: list[Read],
        read_only: Collection[str] = (),
    ) -> None:
        self._source = source
        self._reads = reads
        self.arrays = dict(arrays)
        self.numbers = dict(numbers)
        self.read_only = tuple(arrays[name] for name in read_only)
        """What the parameters `vy.In` stand for: no stage may write them, by whatever name."""

    def lookup(self, captured: tree.Captured) -> object:
        """What a name from outside stands for now; it is noted that it was read."""
        found = resolve(self._source, captured)
        self._reads.append((self._source, captured, found))
        return found

    def array(self, name: tree.ArrayName) -> Any:
        """The array that a name stands for now."""
        found = self.arrays.get(name.name)
        if found is None:
            raise unbound(name.name, name.span)
        return found


def unbound(name: str, span: Span) -> PlanError:
    """The error for a name that was not assigned on the way to its use."""
    return PlanError(codes.UNBOUND.at(Location(span=span), (), name=name))


def evaluate(frame: Frame, expr: tree.HostExpr) -> Any:
    """The value of an expression."""
    match expr:
        case tree.Number(value):
            return value
        case tree.Local(name, span):
            if name not in frame.numbers:
                raise unbound(name, span)
            return frame.numbers[name]
        case tree.Extent(name, axis, span, is_limit):
            array = frame.array(tree.ArrayName(name, span))
            shape = _limit(array, name, span, is_limit) or array.shape
            return _extent(shape, axis, name, span)
        case tree.Conditional(condition, then, otherwise):
            return evaluate(frame, then if evaluate(frame, condition) else otherwise)
        case tree.Captured():
            return _captured(frame, expr)
        case tree.Operation(symbol, operands, span):
            return _operation(symbol, [evaluate(frame, each) for each in operands], span)


def _limit(array: Any, name: str, span: Span, is_limit: bool) -> tuple[int, ...] | None:
    """The shape of counted scratch where its limit will do; its length is on the device."""
    if not isinstance(array, CountedScratch):
        return None
    if is_limit:
        return (array.most,)
    instead = (
        "the default grid follows the count: pass neither grid nor elements; or return the array"
    )
    what = f"len({name}), a count,"
    raise PlanError(codes.ON_THE_DEVICE.at(Location(span=span), (), what=what, instead=instead))


def _extent(shape: tuple[int, ...], axis: int | None, name: str, span: Span) -> int:
    if axis is None:
        total = 1
        for extent in shape:
            total *= extent
        return total
    if not -len(shape) <= axis < len(shape):
        problem = f"asks for an axis that {name!r} does not have: it has {len(shape)}"
        raise _refused(f"{name}.shape[{axis}]", problem, "count axes from 0", span)
    return shape[axis]


def _captured(frame: Frame, expr: tree.Captured) -> Any:
    found: Any = frame.lookup(expr)
    if isinstance(found, np.generic):
        found = cast("Any", found).item()
    if isinstance(found, (int, float)):
        return found
    shown = "has no value" if found is MISSING else f"is a {type(found).__name__}"
    fix = "use a number: an int, a float or a bool; or pass it as a parameter"
    raise _refused(str(expr), shown, fix, expr.span)


def _operation(symbol: str, values: list[Any], span: Span) -> Any:
    if symbol in ("<<", "**") and _is_long(values):
        raise _refused("this number", "is too long", "make it smaller", span)
    try:
        found = _OPERATORS[symbol](*values)
    except (ArithmeticError, TypeError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        shown = f"{symbol} cannot be computed: {problem}"
        fix = "test the operands before, with an if on host values"
        raise _refused("the operation", shown, fix, span) from problem
    if isinstance(found, complex):
        raise _refused("this number", "is complex", "use real numbers", span)
    return found


def _is_long(values: list[Any]) -> bool:
    first, second = values
    if not isinstance(first, int) or not isinstance(second, int):
        return False
    return second > _LONGEST or abs(first).bit_length() > _LONGEST


def _refused(text: str, problem: str, fix: str, span: Span) -> PlanError:
    location = Location(span=span)
    return PlanError(codes.HOST_VALUE.at(location, (), text=text, problem=problem, fix=fix))


def integer(frame: Frame, expr: tree.HostExpr, what: str, span: Span) -> int:
    """The value of an expression that has to be an integer."""
    found = evaluate(frame, expr)
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    raise _refused(what, f"is {found!r}", "write an integer: // divides without a rest", span)
