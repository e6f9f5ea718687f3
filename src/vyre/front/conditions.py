"""Expressions that evaluate a part of themselves only if another part says so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.arrays import extents
from vyre.front.context import Context
from vyre.front.dynamic_selection import refuse_choice
from vyre.front.index_values import joined
from vyre.front.operators import compare
from vyre.front.speculatable import is_harmless
from vyre.front.tuples import flat, rebuilt, same, shape_of
from vyre.front.type_unification import agree, as_bool, literals, zero
from vyre.front.values import Constant, Form, Scalar, Several, Value


def junction(ctx: Context, node: ast.BoolOp) -> Value:
    """`and` and `or`: what stands on the right is evaluated only if the left does not decide."""
    is_and = isinstance(node.op, ast.And)
    word = "and" if is_and else "or"
    left_node = node.values[0]
    left = ctx.expr(left_node)
    for right in node.values[1:]:

        def evaluate(right: ast.expr = right) -> Value:
            return ctx.expr(right)

        # A constant that does not decide leaves the operand after it.
        last = right if isinstance(left, Constant) else left_node
        sides = (left_node, right)
        if len(node.values) == 2:
            _refuse_default(ctx, sides, left, word)
        left = _joined(ctx, sides, left, evaluate, f"an operand of {word}", is_and=is_and)
        left_node = last
    return left


def _refuse_default(ctx: Context, sides: tuple[ast.expr, ast.expr], left: Value, word: str) -> None:
    """Refuse `x or 7`, which is a number in Python, with what that number is."""
    node, other = sides
    if not isinstance(left, Scalar) or left.dtype.is_bool or not is_number(other):
        return
    name, kept = advice.operand(node), ""
    if any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        name, kept = "v", f" with v = {ast.unparse(node)} before it"
    pair = (name, ast.unparse(other))
    first, second = pair if word == "or" else reversed(pair)
    fix = f"choose: {first} if {name} != 0 else {second}{kept}"
    what = f"an operand of {word}"
    raise ctx.error(node, codes.NOT_BOOL, what=what, found=left.named, fix=fix)


def is_number(node: ast.AST) -> bool:
    """Whether a number is written at a place, perhaps with a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _joined(
    ctx: Context,
    sides: tuple[ast.AST, ast.AST],
    left: Value,
    right: Callable[[], Value],
    what: str,
    *,
    is_and: bool,
) -> Value:
    """Two conditions, of which the second one is evaluated if the first does not decide."""
    if isinstance(left, Constant) and isinstance(left.value, bool):
        return left if left.value != is_and else right()
    truth = as_bool(ctx, sides[0], left, what)
    with ctx.block() as body:
        ctx.facts.assume(truth.expr, holds=is_and)
        second = as_bool(ctx, sides[1], right(), what)
    if not body and is_harmless(second.expr):
        op = ir.BinOp.AND if is_and else ir.BinOp.OR
        return Scalar(ir.Binary(op, truth.expr, second.expr), ir.DataType.BOOL)
    held = ctx.fresh("holds")
    ctx.emit(ir.Let(held, truth.expr))
    body.append(ir.Assign(held, second.expr))
    test = ir.Var(held) if is_and else ir.Unary(ir.UnOp.NOT, ir.Var(held))
    ctx.emit(ir.If(test, tuple(body), ()))
    ctx.facts.implied[held] = (is_and, truth.expr, second.expr)
    return Scalar(ir.Var(held), ir.DataType.BOOL)


def comparison(ctx: Context, node: ast.Compare) -> Value:
    """`a < b`, or a chain of these, which ends at the first that does not hold."""
    if len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        left, right = ctx.in_order(sides)
        return compare(ctx, node, node.ops[0], (left, right), sides)
    return _chain(ctx, node, 0, ctx.expr(node.left))


def _chain(ctx: Context, node: ast.Compare, position: int, left: Value) -> Value:
    """The chain from an operand on, whose value is known; each operand is evaluated once."""
    nodes = (node.left, *node.comparators)
    sides = (nodes[position], nodes[position + 1])
    with ctx.before_what_follows(left) as kept:
        right = ctx.expr(sides[1])
    is_last = position + 1 == len(node.ops)
    if isinstance(right, Scalar) and not is_last:
        right = ctx.hold(right)
    test = compare(ctx, node, node.ops[position], (kept.value, right), sides)
    if is_last:
        return test

    def rest() -> Value:
        return _chain(ctx, node, position + 1, right)

    return _joined(ctx, (node, node), test, rest, "a comparison", is_and=True)


def choice(ctx: Context, node: ast.IfExp) -> Value:
    """`a if c else b`: only one of the two is evaluated; of tuples, member by member."""
    condition = ctx.expr(node.test)
    if isinstance(condition, Constant) and isinstance(condition.value, bool):
        return ctx.expr(node.body if condition.value else node.orelse)
    test = as_bool(ctx, node.test, condition, "the condition of a conditional expression")
    with ctx.block() as then:
        ctx.facts.assume(test.expr)
        left = ctx.expr(node.body)
    with ctx.block() as otherwise:
        ctx.facts.assume(test.expr, holds=False)
        right = ctx.expr(node.orelse)
    left, right = extents(left), extents(right)
    refuse_choice(ctx, node, left, right)
    found = list(_pairs(ctx, node, left, right))
    numbers = [pair for pair in found if isinstance(pair, tuple)]
    is_free = all(is_harmless(one.expr) for pair in numbers for one in pair)
    if then or otherwise or not is_free:
        chosen = _chosen(ctx, test, numbers, then, otherwise)
    else:
        test = test if len(numbers) == 1 else ctx.hold(test)
        chosen = [_selected(test, a, b) for a, b in numbers]
    made = iter(chosen)
    return rebuilt(left, (next(made) if isinstance(pair, tuple) else pair for pair in found))


def _pairs(
    ctx: Context, node: ast.IfExp, left: Value, right: Value
) -> Iterator[tuple[Scalar, Scalar] | Value]:
    """The members of two values: as numbers of one type, or what both have in common."""
    sides = (node.body, node.orelse)
    is_tuple = isinstance(left, Several) and isinstance(right, Several)
    if is_tuple and shape_of(left) != shape_of(right):
        fix = "write tuples of the same lengths on both sides"
        types = {"left": shape_of(left), "right": shape_of(right)}
        raise ctx.error(node, codes.TYPES_DIFFER, op="if else", fix=fix, **types)
    members = zip(flat(left), flat(right), strict=True) if is_tuple else [(left, right)]
    for position, (a, b) in enumerate(members):
        if is_tuple and same(a, b) and not isinstance(a, Scalar):
            yield a
        elif isinstance(a, Constant) and isinstance(b, Constant):
            yield literals(ctx, node, (a, b), sides, position)
        else:
            yield agree(ctx, node, "if else", a, b, sides)


def _selected(test: Scalar, a: Scalar, b: Scalar) -> Scalar:
    chosen = ir.Select(test.expr, a.expr, b.expr)
    return Scalar(chosen, a.dtype, a.soft & b.soft, joined(a, b))


def _chosen(
    ctx: Context,
    test: Scalar,
    numbers: Sequence[tuple[Scalar, Scalar]],
    then: list[ir.AnyStmt],
    otherwise: list[ir.AnyStmt],
) -> list[Scalar]:
    """Numbers in variables, which either of two blocks gives a value."""
    names = [ctx.fresh("chosen") for _ in numbers]
    for name, (a, b) in zip(names, numbers, strict=True):
        ctx.emit(ir.Let(name, zero(a.dtype)))
        then.append(ir.Assign(name, a.expr))
        otherwise.append(ir.Assign(name, b.expr))
        if joined(a, b) is Form.NATURAL:
            ctx.facts.natural.add(name)
    ctx.emit(ir.If(test.expr, tuple(then), tuple(otherwise)))
    return [
        Scalar(ir.Var(name), a.dtype, a.soft & b.soft, joined(a, b))
        for name, (a, b) in zip(names, numbers, strict=True)
    ]
