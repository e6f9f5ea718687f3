"""Expressions of Python as expressions of the language."""

from __future__ import annotations

import ast
from enum import Enum
from typing import cast

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import advice, arrays, words
from vyre.front.calls import call
from vyre.front.captured import captured, written
from vyre.front.conditions import choice, comparison, junction
from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.index_values import joined
from vyre.front.operators import binary, unary
from vyre.front.source import MISSING
from vyre.front.tuples import value_of
from vyre.front.type_unification import agree, same_literals
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

MAX_CHOICES = 64
"""A tuple that is indexed by a value of the kernel becomes a chain of selects, at most so long."""


def lower_expr(ctx: Context, node: ast.expr) -> Value:
    """Translate an expression."""
    match node:
        case ast.Constant():
            return written(ctx, node, node.value)
        case ast.Name():
            return name(ctx, node)
        case ast.BinOp():
            left, right = ctx.in_order([node.left, node.right])
            return binary(ctx, node, node.op, (left, right), (node.left, node.right))
        case ast.UnaryOp():
            return unary(ctx, node, ctx.expr(node.operand))
        case ast.Compare():
            return comparison(ctx, node)
        case ast.BoolOp():
            return junction(ctx, node)
        case ast.IfExp():
            return choice(ctx, node)
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
    if isinstance(found, LoopVariableLeft):
        fix = "assign it to another variable inside the loop"
        if found.before is not None:
            fix = _fix_for_two(ctx, node)
        raise ctx.error(node, codes.LOOP_VARIABLE_LEFT, name=node.id, fix=fix)
    if isinstance(found, Variable):
        if found.is_open or node.id not in ctx.frame.assigned:
            raise ctx.error(node, codes.UNASSIGNED, name=node.id)
        return value_of(found)
    if found is not None:
        return found
    if node.id in ctx.frame.own:
        raise ctx.error(node, codes.UNASSIGNED, name=node.id)
    return captured(ctx, node, node.id, ctx.lookup(node.id))


def _fix_for_two(ctx: Context, node: ast.Name) -> str:
    """What to write where a loop counts with a variable that has a value before it as well."""
    loops = [
        loop
        for loop in ast.walk(ctx.frame.source.tree)
        if isinstance(loop, ast.For)
        if any(isinstance(one, ast.Name) and one.id == node.id for one in ast.walk(loop.target))
    ]
    before = [loop for loop in loops if loop.lineno < node.lineno]
    loop = (before or loops)[-1]
    name = advice.counters(ctx.frame.own | ctx.frame.names.keys())[0]
    target = ast.unparse(_renamed(loop.target, node.id, name))
    if isinstance(loop.target, ast.Tuple):
        target = target[1:-1]
    begins = f"for {target} in {ast.unparse(loop.iter)}"
    return f"let the loop have another name: {begins}, and begin its body with {node.id} = {name}"


def _renamed(target: ast.expr, old: str, new: str) -> ast.expr:
    match target:
        case ast.Tuple(elements, context):
            return ast.Tuple([_renamed(one, old, new) for one in elements], context)
        case ast.Name(name, context) if name == old:
            return ast.Name(new, context)
        case _:
            return target


def _subscript(ctx: Context, node: ast.Subscript) -> Value:
    if isinstance(node.value, ast.Subscript):
        arrays.refuse_rows(ctx, node, node.value)
    owner = ctx.expr(node.value)
    match owner:
        case Array():
            return arrays.load(ctx, node, owner)
        case Shape(array):
            return arrays.extent(ctx, node, array, ctx.expr(node.slice))
        case Several(items):
            with ctx.before_what_follows(owner) as kept:
                index = ctx.expr(node.slice)
            if isinstance(kept.value, Several):
                items = kept.value.items
            if isinstance(index, Scalar) and index.dtype.is_integer:
                return _looked_up(ctx, node, items, ctx.hold(index, "i"))
            return items[_position(ctx, node, index, len(items), "a tuple")]
        case Scalar(expr, dtype) if dtype.is_vector and dtype.element is not None:
            index = ctx.expr(node.slice)
            if isinstance(index, Scalar) and index.dtype.is_integer:
                lanes = [Scalar(ir.Lane(expr, lane), dtype.element) for lane in range(dtype.lanes)]
                return _looked_up(ctx, node, tuple(lanes), ctx.hold(index, "i"))
            position = _position(ctx, node, index, dtype.lanes, "a vector")
            return Scalar(ir.Lane(expr, position), dtype.element)
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
    dtype, soft, form = numbers[0].dtype, numbers[0].soft, joined(*numbers)
    # Of an index, a negative number is one that is too large.
    low, high = index.dtype.integer_range
    chosen: ir.AnyExpr = ir.Expr.lit(False if dtype.is_bool else 0, dtype)
    for position, number in reversed(list(enumerate(numbers))):
        if low <= position <= high:
            here = ir.Binary(ir.BinOp.EQ, index.expr, ir.Expr.lit(position, index.dtype))
            chosen = ir.Select(here, number.expr, chosen)
    return Scalar(chosen, dtype, soft, form)


def _of_one_type(
    ctx: Context, node: ast.Subscript, items: tuple[Value, ...]
) -> list[Scalar] | None:
    constants = [item for item in items if isinstance(item, Constant)]
    if len(constants) == len(items):
        return same_literals(ctx, node, constants)
    scalars = [item for item in items if isinstance(item, Scalar)]
    if len(scalars) + len(constants) < len(items):
        return None
    # Each with the first: then all have the same type, or may still get another one together.
    texts = [_member(node, position) for position in range(len(items))]
    first, begin = scalars[0], texts[items.index(scalars[0])]
    for item, text in zip(items, texts, strict=True):
        first = agree(ctx, node, "a tuple", first, item, (begin, text))[0]
    pairs = zip(items, texts, strict=True)
    return [agree(ctx, node, "a tuple", first, item, (begin, text))[1] for item, text in pairs]


def _member(node: ast.Subscript, position: int) -> ast.expr:
    """What stands for a member of a tuple in a message."""
    if isinstance(node.value, ast.Tuple):
        return node.value.elts[position]
    return ast.Subscript(node.value, ast.Constant(position))


def _position(ctx: Context, node: ast.Subscript, index: Value, count: int, what: str) -> int:
    found = index.value if isinstance(index, Constant) else None
    if isinstance(found, int) and not isinstance(found, bool) and -count <= found < count:
        return found % count
    raise ctx.error(node.slice, codes.CONSTANT_INDEX, what=what, count=count)


def _enum_member(ctx: Context, node: ast.expr) -> Thing | None:
    """The member of an enumeration that a constant is: of an `IntEnum`, which is a number too."""
    outer = ctx.expr(node.value) if isinstance(node, ast.Attribute) else None
    if isinstance(outer, Thing) and isinstance(node, ast.Attribute):
        found: object = getattr(outer.target, node.attr, None)
        return Thing(found) if isinstance(found, Enum) else None
    return None


def _attribute(ctx: Context, node: ast.Attribute) -> Value:
    owner = ctx.expr(node.value)
    if isinstance(owner, Constant):
        owner = _enum_member(ctx, node.value) or owner
    if isinstance(owner, Array):
        match node.attr:
            case "shape":
                return Shape(owner)
            case "size":
                return arrays.size(owner)
            case "ndim":
                return Constant(owner.rank)
            case attribute if attribute in arrays.METHODS or attribute in words.WORDS:
                return Method(owner, attribute)
            case attribute:
                fix = advice.for_array(owner, attribute, [*arrays.METHODS, *words.WORDS])
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
                fix=advice.for_module(ast.unparse(node.value), target, node.attr),
            )
        return captured(ctx, node, ast.unparse(node), found)
    fix = "use operators, and the functions of vy"
    if isinstance(owner, Several):
        fix = "take a member by its position in the tuple"
        fields: tuple[str, ...] = getattr(_outside(ctx, node.value), "_fields", ())
        if node.attr in fields:
            fix = f"write {ast.unparse(node.value)}[{fields.index(node.attr)}]"
    if isinstance(owner, Scalar):
        fix = advice.for_number(ast.unparse(node.value), owner.dtype, node.attr)
    raise ctx.error(node, codes.NO_ATTRIBUTE, what=describe(owner), name=node.attr, fix=fix)


def _outside(ctx: Context, node: ast.expr) -> object:
    """What a name outside of the function, or an attribute of one, is there."""
    match node:
        case ast.Name(name) if name not in ctx.frame.own and name not in ctx.frame.names:
            return ctx.lookup(name)
        case ast.Attribute(owner, name):
            return getattr(_outside(ctx, owner), name, None)
        case ast.Subscript(owner, ast.Constant(int(position))):
            found = _outside(ctx, owner)
            members = cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()
            return members[position] if position < len(members) else None
        case _:
            return None
