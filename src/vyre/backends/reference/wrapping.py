"""Differences of unsigned data that wrapped around, and were then taken for numbers.

`first[i] - first[i + 1]` of unsigned numbers is right modulo their range, and so are sums and bits
of it. Where it becomes a float, is divided, shifted to the right, ordered, or ends a loop, one that
wrapped around is a large number instead of a negative one: the sanitizer says so. `c - 48 < 10`,
which asks whether a number lies between two others, is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.semantics import binary_function

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate, Leaf
    from vyre.backends.reference.compile import Compiler
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.task import Task
    from vyre.semantics import Array

_ORDERED = frozenset((ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE))
_OF_NUMBERS = frozenset((ir.BinOp.DIV, ir.BinOp.REM, ir.BinOp.SHR, *_ORDERED))
_WIDE = (ir.DataType.U32, ir.DataType.U64)


def counts_as_number(expr: ir.Binary) -> bool:
    """Whether an operator is wrong for operands that wrapped around."""
    return expr.op in _OF_NUMBERS and not (expr.op in _ORDERED and _is_range_test(expr))


def _is_range_test(expr: ir.Binary) -> bool:
    """Whether a comparison asks if a number lies between two literals."""
    for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
        match one:
            case ir.Binary(ir.BinOp.SUB, _, ir.Lit()) if isinstance(other, ir.Lit):
                return True
            case _:
                pass
    return False


def operand(compiler: Compiler, expr: ir.AnyExpr) -> tuple[Evaluate, ir.DataType]:
    """An operand that counts as a number; one that wrapped around is reported."""
    if not compiler.watches:
        return compiler.expression(expr)
    match expr:
        case ir.Binary(ir.BinOp.SUB, left, right):
            return _difference(compiler, left, right)
        case ir.Var(name) if compiler.variables.knows(_mark(name)):
            mark, _ = compiler.variables.use(_mark(name))
            run, dtype = compiler.expression(expr)
            place = compiler.place

            def read(task: Task, lanes: Lanes) -> Array:
                _report(task, lanes, task.read(mark, lanes), place)
                return run(task, lanes)

            return read, dtype
        case _:
            return compiler.expression(expr)


def _difference(
    compiler: Compiler, left: ir.AnyExpr, right: ir.AnyExpr
) -> tuple[Evaluate, ir.DataType]:
    first, dtype = compiler.expression(left)
    second, _ = compiler.expression(right)
    function, place = binary_function(ir.BinOp.SUB, dtype), compiler.place

    def run(task: Task, lanes: Lanes) -> Array:
        a, b = first(task, lanes), second(task, lanes)
        if dtype in _WIDE:
            _report(task, lanes, a < b, place)
        return function(a, b)

    return run, dtype


def _report(task: Task, lanes: Lanes, wrapped: Array, place: int) -> None:
    watch = task.cohort.world.watch
    if watch is not None:
        watch.wrapped(task, lanes, wrapped, place)


def let(compiler: Compiler, name: str, value: ir.AnyExpr) -> Leaf | None:
    """A variable that holds a difference, and whether that wrapped around; None for any other."""
    if not compiler.sanitize or name in compiler.assigned:
        return None
    if not isinstance(value, ir.Binary) or value.op is not ir.BinOp.SUB:
        return None
    first, dtype = compiler.expression(value.left)
    second, _ = compiler.expression(value.right)
    if dtype not in _WIDE:
        return None
    function = binary_function(ir.BinOp.SUB, dtype)
    variable = compiler.variables.bind(name, dtype)
    mark = compiler.variables.bind(_mark(name), ir.DataType.BOOL)

    def run(task: Task, lanes: Lanes) -> None:
        a, b = first(task, lanes), second(task, lanes)
        task.let(variable, lanes, function(a, b))
        task.let(mark, lanes, a < b)

    return run


def _mark(name: str) -> str:
    """The variable that tells whether a difference wrapped around; no program has such a name."""
    return f"{name} wrapped"
