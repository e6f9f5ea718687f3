"""Giving values to variables: the type of a variable, and what a new value may be."""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front.agree import as_scalar, as_type, can_become, default_type, literal
from vyre.front.context import Context, Variable
from vyre.front.scalars import scalar_name
from vyre.front.values import Constant, Key, Scalar, Value
from vyre.ir import Assign, DataType, Let


def fitted(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Value) -> Scalar:
    """A value as the variable holds it; the first one decides about the variable's type."""
    if variable.dtype is None:
        return _first(ctx, node, variable, value)
    if isinstance(value, Constant):
        wants_float = isinstance(value.value, float) and variable.dtype.is_integer
        if variable.soft and wants_float:
            raise ctx.learn(variable.soft, DataType.F32, node)
        return literal(ctx, node, value, variable.dtype)
    scalar = as_scalar(ctx, node, value)
    if scalar.dtype is variable.dtype:
        if variable.soft and scalar.soft:
            variable.soft |= scalar.soft
        else:
            ctx.pin(variable.soft | scalar.soft, scalar.dtype)
            variable.soft = frozenset()
        return scalar
    if variable.soft and can_become(variable.dtype, scalar.dtype):
        raise ctx.learn(variable.soft, scalar.dtype, node)
    if scalar.soft and can_become(scalar.dtype, variable.dtype):
        raise ctx.learn(scalar.soft, variable.dtype, node)
    raise ctx.error(
        node,
        codes.VARIABLE_TYPE,
        name=name,
        expected=variable.dtype,
        found=scalar.dtype,
        cast=f"{scalar_name(variable.dtype)}({ast.unparse(node)})",
    )


def _first(ctx: Context, node: ast.AST, variable: Variable, value: Value) -> Scalar:
    learned = ctx.learned.get(variable.key)
    if learned is not None:
        variable.dtype = learned
        if isinstance(value, Constant):
            return literal(ctx, node, value, learned, ctx.reasons.get(variable.key))
        return as_type(ctx, node, value, learned, "the variable")
    if isinstance(value, Constant) and not isinstance(value.value, (str, bool)):
        variable.dtype = default_type(value.value)
        variable.soft = frozenset({variable.key})
        return literal(ctx, node, value, variable.dtype)
    scalar = as_scalar(ctx, node, value)
    variable.dtype = scalar.dtype
    if scalar.soft:
        variable.soft = scalar.soft | {variable.key}
    return scalar


def assign_name(ctx: Context, node: ast.Name, value: Value, value_node: ast.AST) -> None:
    """`name = value`."""
    frame = ctx.frame
    known = frame.names.get(node.id)
    if isinstance(known, Variable):
        scalar = fitted(ctx, value_node, node.id, known, value)
        ctx.emit(Assign(known.name, scalar.expr))
    elif _is_not_a_number(value):
        frame.names[node.id] = value
        return
    else:
        variable = declare(ctx, node.id, node)
        scalar = fitted(ctx, value_node, node.id, variable, value)
        ctx.emit(Let(variable.name, scalar.expr))
        if node.id not in frame.reassigned:
            ctx.facts.define(variable.name, scalar.expr)
    frame.assigned.add(node.id)


def _is_not_a_number(value: Value) -> bool:
    """Arrays, tuples and functions may have a second name; no variable holds them."""
    return not isinstance(value, (Scalar, Constant)) or (
        isinstance(value, Constant) and isinstance(value.value, str)
    )


def declare(ctx: Context, name: str, node: ast.AST) -> Variable:
    """A new variable of the function being translated, without a value."""
    variable = Variable(ctx.fresh(name), None, key_of(ctx, name, node))
    ctx.frame.names[name] = variable
    return variable


def key_of(ctx: Context, name: str, node: ast.AST) -> Key:
    """Names a variable by its function and the place that binds it."""
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return (*ctx.frame.path, name, *place)
