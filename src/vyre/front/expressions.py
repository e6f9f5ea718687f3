"""Expressions of Python as expressions of the language."""

from __future__ import annotations

import ast
from typing import Any, cast

from vyre.diagnostics.codes import front as codes
from vyre.front import advice, arrays
from vyre.front.agree import agree, as_bool, literals, same_literals
from vyre.front.calls import call
from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.harmless import is_harmless
from vyre.front.operators import binary, compare, unary
from vyre.front.scalars import BY_NUMPY_NAME
from vyre.front.source import MISSING
from vyre.front.values import (
    Array,
    Constant,
    Method,
    Scalar,
    Several,
    Shape,
    Thing,
    Value,
    describe,
)
from vyre.ir import (
    AnyExpr,
    Assign,
    Binary,
    BinOp,
    DataType,
    Expr,
    If,
    Lane,
    Let,
    Select,
    Unary,
    UnOp,
    Var,
)

MAX_CHOICES = 64
"""A tuple that is indexed by a value of the kernel becomes a chain of selects, at most so long."""


def lower_expr(ctx: Context, node: ast.expr) -> Value:
    """Translate an expression."""
    match node:
        case ast.Constant():
            value = node.value
            return _bytes(value) if isinstance(value, bytes) else _constant(ctx, node, value)
        case ast.Name():
            return name(ctx, node)
        case ast.BinOp():
            left, right = ctx.in_order([node.left, node.right])
            return binary(ctx, node, node.op, (left, right), (node.left, node.right))
        case ast.UnaryOp():
            return unary(ctx, node, ctx.expr(node.operand))
        case ast.Compare():
            return _comparison(ctx, node)
        case ast.BoolOp():
            return _junction(ctx, node)
        case ast.IfExp():
            return _choice(ctx, node)
        case ast.Subscript():
            return _subscript(ctx, node)
        case ast.Attribute():
            return _attribute(ctx, node)
        case ast.Call():
            return call(ctx, node)
        case ast.Tuple() | ast.List():
            return Several(tuple(ctx.in_order(node.elts)))
        case _:
            what = type(node).__name__
            instead = "compute with numbers, arrays and the functions of vy"
            raise ctx.error(node, codes.EXPRESSION, what=what, instead=instead)


def name(ctx: Context, node: ast.Name) -> Value:
    """What a name means: a variable of the kernel, or something around it."""
    found = ctx.frame.names.get(node.id)
    if found is None:
        return _captured(ctx, node, node.id, ctx.lookup(node.id))
    if isinstance(found, LoopVariableLeft):
        raise ctx.error(node, codes.LOOP_VARIABLE_LEFT, name=node.id)
    if isinstance(found, Variable):
        if found.dtype is None or node.id not in ctx.frame.assigned:
            raise ctx.error(node, codes.UNASSIGNED, name=node.id)
        return Scalar(Var(found.name), found.dtype, found.soft)
    return found


def _captured(ctx: Context, node: ast.expr, text: str, found: Any) -> Value:
    if found is MISSING:
        known = [*ctx.frame.names, *ctx.frame.source.closure, *ctx.frame.source.scope]
        raise ctx.error(node, codes.UNKNOWN_NAME, name=text, fix=advice.for_name(text, known))
    if isinstance(found, (bool, int, float, str)):
        return _constant(ctx, node, found)
    if isinstance(found, bytes):
        return _bytes(found)
    if isinstance(found, tuple):
        items = cast("tuple[Any, ...]", found)
        return Several(tuple(_captured(ctx, node, text, item) for item in items))
    dtype = BY_NUMPY_NAME.get(type(found).__name__)
    if dtype is not None and type(found).__module__ == "numpy":
        return Scalar(Expr.lit(found.item(), dtype), dtype)
    if type(found).__name__ in ("ndarray", "DeviceArray", "list", "dict", "set"):
        fix = f"pass it as an argument: {text}: vy.In[vy.f32]"
        if type(found).__name__ == "list":
            fix = f"make it a tuple, or {fix}"
        raise ctx.error(node, codes.CAPTURED, name=text, what=_kind(found), fix=fix)
    return Thing(found)


def _kind(found: object) -> str:
    kinds = {"ndarray": "a numpy array", "DeviceArray": "a vyre array"}
    return kinds.get(type(found).__name__, f"a {type(found).__name__}")


def _bytes(value: bytes) -> Several:
    return Several(tuple(map(Constant, value)))


def _constant(ctx: Context, node: ast.expr, value: object) -> Constant:
    # numpy's float64 is a float as well; take the number alone.
    if isinstance(value, bool):
        return Constant(bool(value))
    if isinstance(value, int):
        return Constant(int(value))
    if isinstance(value, float):
        return Constant(float(value))
    if isinstance(value, str):
        return Constant(value)
    raise ctx.error(
        node,
        codes.EXPRESSION,
        what=f"the constant {value!r}",
        instead="begin with a number, such as 0 or vy.math.inf, or keep a bool beside it"
        if value is None
        else "use numbers and truth values",
    )


def _comparison(ctx: Context, node: ast.Compare) -> Value:
    if len(node.ops) == 1:
        sides = (node.left, node.comparators[0])
        left, right = ctx.in_order(sides)
        return compare(ctx, node, node.ops[0], (left, right), sides)
    # Each operand of a chain is evaluated once.
    nodes = [node.left, *node.comparators]
    values = [
        ctx.hold(value) if isinstance(value, Scalar) else value for value in ctx.in_order(nodes)
    ]
    result: Value = Constant(True)
    for number, op in enumerate(node.ops):
        pair = (values[number], values[number + 1])
        sides = (nodes[number], nodes[number + 1])
        result = _both(ctx, node, result, compare(ctx, node, op, pair, sides))
    return result


def _both(ctx: Context, node: ast.AST, left: Value, right: Value) -> Value:
    if isinstance(left, Constant):
        return right if left.value else left
    if isinstance(right, Constant):
        return left if right.value else right
    a, b = as_bool(ctx, node, left, "a comparison"), as_bool(ctx, node, right, "a comparison")
    return Scalar(Binary(BinOp.AND, a.expr, b.expr), DataType.BOOL)


def _junction(ctx: Context, node: ast.BoolOp) -> Value:
    """`and` and `or`: what stands on the right is evaluated only if the left does not decide."""
    is_and = isinstance(node.op, ast.And)
    word = "and" if is_and else "or"
    left = ctx.expr(node.values[0])
    for right_node in node.values[1:]:
        if isinstance(left, Constant) and isinstance(left.value, bool):
            if left.value != is_and:
                return left
            left = ctx.expr(right_node)
            continue
        truth = as_bool(ctx, node.values[0], left, f"an operand of {word}")
        with ctx.block() as body:
            ctx.facts.assume(truth.expr, holds=is_and)
            right = as_bool(ctx, right_node, ctx.expr(right_node), f"an operand of {word}")
        op = BinOp.AND if is_and else BinOp.OR
        if not body and is_harmless(right.expr):
            left = Scalar(Binary(op, truth.expr, right.expr), DataType.BOOL)
            continue
        held = ctx.fresh("holds")
        ctx.emit(Let(held, truth.expr))
        body.append(Assign(held, right.expr))
        test = Var(held) if is_and else Unary(UnOp.NOT, Var(held))
        ctx.emit(If(test, tuple(body), ()))
        ctx.facts.implied[held] = (is_and, truth.expr, right.expr)
        left = Scalar(Var(held), DataType.BOOL)
    return left


def _choice(ctx: Context, node: ast.IfExp) -> Value:
    """`a if c else b`: only one of the two is evaluated."""
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
    a, b = _arms(ctx, node, left, right)
    if not then and not otherwise and is_harmless(a.expr) and is_harmless(b.expr):
        return Scalar(Select(test.expr, a.expr, b.expr), a.dtype, a.soft & b.soft)
    held = ctx.fresh("chosen")
    ctx.emit(Let(held, Expr.lit(False if a.dtype.is_bool else 0, a.dtype)))
    then.append(Assign(held, a.expr))
    otherwise.append(Assign(held, b.expr))
    ctx.emit(If(test.expr, tuple(then), tuple(otherwise)))
    return Scalar(Var(held), a.dtype, a.soft & b.soft)


def _arms(ctx: Context, node: ast.IfExp, left: Value, right: Value) -> tuple[Scalar, Scalar]:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return literals(ctx, node, (left, right), (node.body, node.orelse))
    return agree(ctx, node, "if else", left, right, (node.body, node.orelse))


def _subscript(ctx: Context, node: ast.Subscript) -> Value:
    owner = ctx.expr(node.value)
    match owner:
        case Array():
            return arrays.load(ctx, node, owner)
        case Shape(array):
            return arrays.extent(ctx, node, array, ctx.expr(node.slice))
        case Several(items):
            index = ctx.expr(node.slice)
            if isinstance(index, Scalar) and index.dtype.is_integer:
                return _looked_up(ctx, node, items, ctx.hold(index, "i"))
            return items[_position(ctx, node, index, len(items), "a tuple")]
        case Scalar(expr, dtype) if dtype.is_vector and dtype.element is not None:
            position = _position(ctx, node, ctx.expr(node.slice), dtype.lanes, "a vector")
            return Scalar(Lane(expr, position), dtype.element)
        case _:
            raise ctx.error(node, codes.NOT_INDEXABLE, what=describe(owner))


def _looked_up(ctx: Context, node: ast.Subscript, items: tuple[Value, ...], index: Scalar) -> Value:
    """An element of a tuple that the kernel chooses; zero outside of it, as of an array."""
    rows = [item.items for item in items if isinstance(item, Several)]
    if rows and len(rows) == len(items) and len({len(row) for row in rows}) == 1:
        columns = zip(*rows, strict=True)
        return Several(tuple(_looked_up(ctx, node, column, index) for column in columns))
    numbers = _of_one_type(ctx, node, items)
    if numbers is None or not 0 < len(items) <= MAX_CHOICES:
        raise ctx.error(node.slice, codes.CONSTANT_INDEX, what="a tuple", count=len(items))
    dtype, soft = numbers[0].dtype, numbers[0].soft
    low, high = index.dtype.integer_range
    chosen: AnyExpr = Expr.lit(False if dtype.is_bool else 0, dtype)
    for position, number in reversed(list(enumerate(numbers))):
        if low <= position <= high:
            here = Binary(BinOp.EQ, index.expr, Expr.lit(position, index.dtype))
            chosen = Select(here, number.expr, chosen)
    return Scalar(chosen, dtype, soft)


def _of_one_type(
    ctx: Context, node: ast.Subscript, items: tuple[Value, ...]
) -> list[Scalar] | None:
    constants = [item for item in items if isinstance(item, Constant)]
    if len(constants) == len(items):
        return same_literals(ctx, node, constants)
    scalars = [item for item in items if isinstance(item, Scalar)]
    same = len(scalars) == len(items) and len({item.dtype for item in scalars}) == 1
    return scalars if same else None


def _position(ctx: Context, node: ast.Subscript, index: Value, count: int, what: str) -> int:
    found = index.value if isinstance(index, Constant) else None
    if isinstance(found, int) and not isinstance(found, bool) and -count <= found < count:
        return found % count
    raise ctx.error(node.slice, codes.CONSTANT_INDEX, what=what, count=count)


def _attribute(ctx: Context, node: ast.Attribute) -> Value:
    owner = ctx.expr(node.value)
    if isinstance(owner, Array):
        match node.attr:
            case "shape":
                return Shape(owner)
            case "size":
                return arrays.size(owner)
            case "ndim":
                return Constant(owner.rank)
            case attribute if attribute in arrays.ATOMICS:
                return Method(owner, attribute)
            case attribute:
                fix = advice.for_array(owner.name, attribute, arrays.ATOMICS)
                what = describe(owner)
                raise ctx.error(node, codes.NO_ATTRIBUTE, what=what, name=attribute, fix=fix)
    if isinstance(owner, Thing):
        target = owner.target
        found = getattr(target, node.attr, MISSING)
        ctx.reads.attribute(target, node.attr, found)
        if found is MISSING:
            raise ctx.error(
                node,
                codes.NO_ATTRIBUTE,
                what=ast.unparse(node.value),
                name=node.attr,
                fix=advice.for_attribute(ast.unparse(node.value), node.attr, dir(target)),
            )
        return _captured(ctx, node, ast.unparse(node), found)
    fix = "use operators, and the functions of vy"
    if isinstance(owner, Scalar):
        fix = advice.for_number(ast.unparse(node.value), owner.dtype, node.attr)
    raise ctx.error(node, codes.NO_ATTRIBUTE, what=describe(owner), name=node.attr, fix=fix)
