"""Bugs of a front end, each planted by itself: what Python means, and the program does not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from vyre.front import (
    conditions,
    functions,
    index_operators,
    intrinsic_calls,
    loops,
    operators,
    ranges,
    statements,
    tuples,
)
from vyre.front.context import Context
from vyre.front.source import Source
from vyre.front.type_unification import as_bool
from vyre.front.values import Form, Scalar, Several
from vyre.ir import Assign, Binary, BinOp, Break, DataType, Expr, Select


@dataclass(frozen=True)
class FrontPlant:
    """One bug."""

    name: str
    planted: Callable[[], AbstractContextManager[Any]]


def _instead(owner: object, name: str, wrong: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, wrong)


# --- operators ---------------------------------------------------------------------------------


def _truncated(ctx: Any, a: Any, b: Any, **known: Any) -> Any:
    return Binary(BinOp.DIV, a.expr, b.expr)


def _remainder(ctx: Any, a: Any, b: Any, **known: Any) -> Any:
    return Binary(BinOp.REM, a.expr, b.expr)


def _first_two(opcode: BinOp, compute: Any) -> Any:
    whole = _FOLD(opcode, compute)

    def handle(ctx: Any, node: ast.Call) -> Any:
        return whole(ctx, ast.copy_location(ast.Call(node.func, node.args[:2], []), node))

    return handle


_FOLD = intrinsic_calls._fold


@contextmanager
def _third_dropped() -> Iterator[None]:
    wrong = {max: _first_two(BinOp.MAX, max), min: _first_two(BinOp.MIN, min)}
    with patch.dict(intrinsic_calls.HANDLERS, wrong):
        yield


def _first_members(
    ctx: Any, node: Any, op: Any, operands: tuple[Several, Several], sides: Any
) -> Any:
    pair = (operands[0].items[0], operands[1].items[0])
    return operators.compare(ctx, node, op, pair, sides)


# --- order and how often -----------------------------------------------------------------------


def _as_they_come(self: Context, nodes: Sequence[ast.expr]) -> list[Any]:
    """What an operand before changes is seen by the one after, and the other way round."""
    return [self.expr(node) for node in nodes]


def _never_fixed(self: Context, value: Any, name: str = "t") -> Any:
    return value


def _middle_twice(ctx: Any, node: ast.Compare, position: int, left: Any) -> Any:
    """`a < b < c` as `a < b and b < c`."""
    nodes = (node.left, *node.comparators)
    pairs = [
        ast.copy_location(ast.Compare(nodes[k], [node.ops[k]], [nodes[k + 1]]), node)
        for k in range(len(node.ops))
    ]
    return conditions.junction(ctx, ast.copy_location(ast.BoolOp(ast.And(), list(pairs)), node))


def _chain_cut(ctx: Any, node: ast.Compare, position: int, left: Any) -> Any:
    """The last comparison of a chain is dropped."""
    shorter = ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])
    return conditions.comparison(ctx, ast.copy_location(shorter, node))


def _both_sides(ctx: Any, sides: Any, left: Any, right: Any, what: str, *, is_and: bool) -> Any:
    first = as_bool(ctx, sides[0], left, what)
    held = ctx.spill(first)
    second = as_bool(ctx, sides[1], right(), what)
    op = BinOp.AND if is_and else BinOp.OR
    return Scalar(Binary(op, held.expr, second.expr), DataType.BOOL)


def _right_first(ctx: Any, node: ast.AugAssign) -> None:
    """The value before the target."""
    if not isinstance(node.target, ast.Subscript):
        return _AUGMENTED(ctx, node)
    reading = ast.copy_location(ast.Subscript(node.target.value, node.target.slice), node)
    fresh = f"{ctx.fresh('right')}"
    value = ctx.spill(operators.as_scalar(ctx, node.value, ctx.expr(node.value)), fresh)
    result = operators.binary(ctx, node, node.op, (ctx.expr(reading), value), (reading, node.value))
    return statements._give(ctx, node.target, result, node.value)


_AUGMENTED = statements._augmented


# --- names -------------------------------------------------------------------------------------


def _alias(ctx: Any, name: str, item: Any) -> Any:
    return item


def _read_late(ctx: Any, node: Any, frame: Any, name: str, value: Any, *, changed: bool) -> None:
    """An argument is read where the function uses it."""
    if changed:
        _BIND_ARGUMENT(ctx, node, frame, name, value, changed=True)
    else:
        frame.assigned.add(name)
        frame.names[name] = value


_BIND_ARGUMENT = functions._bind_argument


def _one_by_one(ctx: Any, node: Any, name: str, variable: Any, value: Any) -> None:
    """Members of a tuple that is bound again see those that were bound before them."""
    for leaf, item, label, where in tuples._numbers(variable, value, name, node):
        scalar = tuples.fitted(ctx, where, label, leaf, item)
        ctx.emit(Assign(leaf.name, scalar.expr))


@contextmanager
def _globals_as_defined() -> Iterator[None]:
    """A name means what it meant when the function was defined."""
    began: dict[int, dict[str, Any]] = {}
    begin, lookup = Source.__init__, Source.lookup

    def noted(self: Source, function: Any) -> None:
        begin(self, function)
        began[id(self)] = dict(function.__globals__)

    def before(self: Source, name: str) -> Any:
        known = began.get(id(self), {})
        return known[name] if name in known else lookup(self, name)

    with patch.object(Source, "__init__", noted), patch.object(Source, "lookup", before):
        yield


# --- loops -------------------------------------------------------------------------------------


def _forward_only(bounds: Any) -> Any:
    """A step that is known when it runs is taken for a positive one."""
    if isinstance(bounds.step, int):
        return _ROUNDS(bounds)
    counter = bounds.counter_type
    size, low, high = (
        ranges._unsigned(one.expr, bounds.dtype) for one in (bounds.step, bounds.start, bounds.stop)
    )
    one = Expr.lit(1, counter)
    some = Binary(BinOp.LT, bounds.start.expr, bounds.stop.expr)
    last = Binary(BinOp.DIV, Binary(BinOp.SUB, Binary(BinOp.SUB, high, low), one), size)
    return Select(some, Binary(BinOp.ADD, last, one), Expr.lit(0, counter))


def _end_included(bounds: Any) -> Any:
    """A loop with a negative step has one round more."""
    rounds = _ROUNDS(bounds)
    if not isinstance(bounds.step, int) or bounds.step > 0:
        return rounds
    return Binary(BinOp.ADD, rounds, Expr.lit(1, bounds.counter_type))


_ROUNDS = ranges.rounds_of


def _goes_on(ctx: Any, node: Any) -> bool:
    """`break` in a loop that is written out ends its round only."""
    ctx.frame.loops[-1].breaks.append(set(ctx.frame.assigned))
    ctx.emit(Break())
    return True


def _return_is_break(ctx: Any, node: Any) -> bool:
    if ctx.frame.is_kernel and ctx.frame.loops:
        ctx.emit(Break())
        return True
    return _RETURN(ctx, node)


_RETURN = statements._return


def _read_again(ctx: Any, value: Any, name: str) -> Any:
    """The start and the step of a range are read anew in every round."""
    return value


@contextmanager
def _bounds_read_again() -> Iterator[None]:
    with patch.object(ranges, "kept", _read_again), patch.object(loops, "kept", _read_again):
        yield


def _one_branch(ctx: Any, node: Any, test: Any) -> bool:
    """The `else` of a branch that leaves is dropped."""
    last = node.body[-1]
    if isinstance(last, (ast.Break, ast.Continue)) and node.orelse:
        node = ast.copy_location(ast.If(node.test, node.body, []), node)
    return _BRANCH(ctx, node, test)


_BRANCH = statements._branch


# --- ids and lengths ---------------------------------------------------------------------------


def _without_sign(ctx: Any, opcode: BinOp, a: Any, b: Any) -> Any:
    return Binary(opcode, a.expr, b.expr)


def _never_negative(ctx: Any, opcode: BinOp, a: Any, b: Any) -> Any:
    """A difference of ids is an id."""
    found = _OF_TWO(ctx, opcode, a, b)
    if opcode is not BinOp.SUB or found is None:
        return found
    return Scalar(found.expr, found.dtype, found.soft, Form.NATURAL)


_OF_TWO = index_operators.of_two


PLANTS = (
    FrontPlant("// truncates", _instead(operators, "floor_quotient", _truncated)),
    FrontPlant(
        "% has the sign of the dividend", _instead(operators, "floor_remainder", _remainder)
    ),
    FrontPlant("min and max of three ignore the third", _third_dropped),
    FrontPlant(
        "tuples are compared by their first members",
        _instead(operators, "_compare_tuples", _first_members),
    ),
    FrontPlant(
        "operands are not kept from what follows", _instead(Context, "in_order", _as_they_come)
    ),
    FrontPlant("values that are swapped are aliases", _instead(Context, "fixed", _never_fixed)),
    FrontPlant(
        "an operand of a chain is evaluated twice", _instead(conditions, "_chain", _middle_twice)
    ),
    FrontPlant("the last part of a chain is dropped", _instead(conditions, "_chain", _chain_cut)),
    FrontPlant("and, or evaluate both sides", _instead(conditions, "_joined", _both_sides)),
    FrontPlant(
        "an augmented store reads the value first",
        _instead(statements, "_augmented", _right_first),
    ),
    FrontPlant("members of tuples are aliases", _instead(tuples, "_kept", _alias)),
    FrontPlant("arguments are read late", _instead(functions, "_bind_argument", _read_late)),
    FrontPlant("members of a tuple are bound one by one", _instead(tuples, "_assign", _one_by_one)),
    FrontPlant("globals are read where a function is defined", _globals_as_defined),
    FrontPlant("a step of the run is positive", _instead(loops, "rounds_of", _forward_only)),
    FrontPlant("a negative step includes the end", _instead(loops, "rounds_of", _end_included)),
    FrontPlant("a written-out loop that is left goes on", _instead(statements, "_break", _goes_on)),
    FrontPlant(
        "a return in a loop leaves the loop alone",
        _instead(statements, "_return", _return_is_break),
    ),
    FrontPlant("a range is counted from variables", _bounds_read_again),
    FrontPlant(
        "the else of a branch that leaves is dropped",
        _instead(statements, "_branch", _one_branch),
    ),
    FrontPlant(
        "differences of ids are compared without sign",
        _instead(index_operators, "_compared", _without_sign),
    ),
    FrontPlant(
        "differences of ids are never negative",
        _instead(index_operators, "of_two", _never_negative),
    ),
)
