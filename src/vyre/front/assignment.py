"""Giving values to variables: the type of a variable, and what a new value may be."""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.context import Context, Restart, Variable
from vyre.front.index_values import INTEGERS, stored
from vyre.front.type_unification import (
    as_scalar,
    as_type,
    can_become,
    default_type,
    index_of,
    literal,
)
from vyre.front.values import Constant, Form, Key, Scalar, Value
from vyre.ir import DataType


def fitted(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Value) -> Scalar:
    """A value as the variable holds it; the first one decides about the variable's type."""
    if variable.dtype is None:
        scalar = _first(ctx, node, variable, value)
    elif variable.form is not None:
        scalar = _as_index(ctx, node, name, variable, value)
    else:
        scalar = _as_number(ctx, node, name, variable, variable.dtype, value)
    if variable.form is Form.NATURAL:
        ctx.facts.natural.add(variable.name)
    return scalar


def _as_number(
    ctx: Context, node: ast.AST, name: str, variable: Variable, dtype: DataType, value: Value
) -> Scalar:
    """A value for a variable that has a type, or that a literal began."""
    if isinstance(value, Constant):
        wants_float = isinstance(value.value, float) and dtype.is_integer
        if variable.soft and wants_float:
            raise ctx.learn(variable.soft, DataType.F32, node)
        if variable.soft and ctx.widen(variable.key, value.value, dtype):
            raise Restart
        return literal(ctx, node, value, dtype, alone=True)
    scalar = as_scalar(ctx, node, value)
    if scalar.form is not None and dtype in INTEGERS:
        if variable.soft and dtype is DataType.I32:
            raise ctx.learn(variable.soft, Form.NATURAL, node)
        ctx.pin(variable.soft, dtype)
        return stored(ctx, node, scalar, dtype)
    if scalar.form is None and scalar.dtype is dtype:
        if variable.soft and scalar.soft:
            variable.soft |= scalar.soft
        else:
            ctx.pin(variable.soft | scalar.soft, scalar.dtype)
            variable.soft = frozenset()
        return scalar
    if scalar.form is None and variable.soft and can_become(dtype, scalar.dtype):
        raise ctx.learn(variable.soft, scalar.dtype, node)
    if scalar.soft and can_become(scalar.dtype, dtype):
        raise ctx.learn(scalar.soft, dtype, node)
    raise ctx.error(
        node,
        codes.VARIABLE_TYPE,
        name=name,
        expected=dtype,
        found=scalar.named,
        cast=advice.cast(node, dtype, scalar.dtype),
    )


def _as_index(ctx: Context, node: ast.AST, name: str, variable: Variable, value: Value) -> Scalar:
    """A value for a variable that holds an index: another index, or a number that types it."""
    scalar = (
        index_of(ctx, node, value) if isinstance(value, Constant) else as_scalar(ctx, node, value)
    )
    if scalar.form is Form.SIGNED and variable.form is Form.NATURAL:
        raise ctx.learn(variable.soft, Form.SIGNED, node)
    if scalar.form is not None:
        return scalar
    if scalar.soft and scalar.dtype is DataType.I32:
        raise ctx.learn(scalar.soft, Form.NATURAL, node)
    if scalar.dtype in INTEGERS:
        ctx.pin(scalar.soft, scalar.dtype)
        raise ctx.learn(variable.soft, scalar.dtype, node)
    raise ctx.error(
        node,
        codes.VARIABLE_TYPE,
        name=name,
        expected="an index",
        found=scalar.named,
        cast=advice.cast(node, DataType.I32, scalar.dtype),
    )


def _first(ctx: Context, node: ast.AST, variable: Variable, value: Value) -> Scalar:
    learned = ctx.learned.get(variable.key)
    if isinstance(learned, Form):
        return _first_index(ctx, node, variable, value, learned)
    if learned is not None:
        variable.dtype = learned
        if isinstance(value, Constant):
            return literal(ctx, node, value, learned, ctx.reasons.get(variable.key))
        return as_type(ctx, node, value, learned, "the variable")
    if isinstance(value, Constant) and not isinstance(value.value, (str, bool)):
        variable.dtype = default_type(value.value, *ctx.literals.get(variable.key, ()))
        variable.soft = frozenset({variable.key})
        return literal(ctx, node, value, variable.dtype)
    scalar = as_scalar(ctx, node, value)
    variable.dtype, variable.form = scalar.dtype, scalar.form
    if scalar.soft:
        variable.soft = scalar.soft | {variable.key}
    elif scalar.form is not None:
        variable.soft = frozenset({variable.key})
    return scalar


def _first_index(
    ctx: Context, node: ast.AST, variable: Variable, value: Value, learned: Form
) -> Scalar:
    """The first value of a variable that turned out to hold an index."""
    if isinstance(value, Constant):
        scalar = index_of(ctx, node, value, ctx.reasons.get(variable.key))
    else:
        scalar = as_scalar(ctx, node, value)
    if scalar.form is None:
        if scalar.soft and scalar.dtype is DataType.I32:
            raise ctx.learn(scalar.soft, Form.NATURAL, node)
        # A number came first after all, and says what the type is.
        ctx.pin(scalar.soft, scalar.dtype)
        raise ctx.learn(frozenset({variable.key}), scalar.dtype, node)
    variable.dtype = DataType.U32
    variable.form = Form.SIGNED if Form.SIGNED in (scalar.form, learned) else Form.NATURAL
    variable.soft = frozenset({variable.key})
    return scalar


def declare(ctx: Context, name: str, node: ast.AST) -> Variable:
    """A new variable of the function being translated, without a value."""
    variable = Variable(ctx.fresh(name), None, key_of(ctx, name, node), home=ctx.body)
    ctx.frame.names[name] = variable
    return variable


def key_of(ctx: Context, name: str, node: ast.AST) -> Key:
    """Names a variable by its function and the place that binds it."""
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return (*ctx.frame.path, name, *place)
