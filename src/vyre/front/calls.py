"""Calls inside kernels: casts, functions of vy, device functions; all else is refused."""

from __future__ import annotations

import ast
from typing import Any, cast

from vyre.diagnostics.codes import front as codes
from vyre.front import advice, arrays, group_calls, unsupported_functions, words
from vyre.front.context import Context
from vyre.front.device_functions import DeviceFunction
from vyre.front.functions import inline
from vyre.front.index_values import as_i32, converted
from vyre.front.intrinsic_calls import HANDLERS, resolved, values_of
from vyre.front.operators import not_callable
from vyre.front.parameters import element_type, generic_of
from vyre.front.scalars import BY_NUMPY_NAME, ScalarType, scalar_name
from vyre.front.type_unification import LITERALS, as_scalar, literal
from vyre.front.values import Array, Constant, Method, Scalar, Thing, Value, describe
from vyre.ir import Cast, DataType


def call(ctx: Context, node: ast.Call) -> Value:
    """The value of a call."""
    _refuse_method(ctx, node)
    callee = ctx.expr(node.func)
    if isinstance(callee, Method):
        if callee.name in words.WORDS:
            return words.word(ctx, node, callee.array, callee.name)
        if callee.name == arrays.STORE:
            form = f"{callee.array.name}.atomic_exchange(i, value)"
            raise ctx.error(node, codes.CALL, name=callee.name, problem="gives no value", form=form)
        return ctx.spill(arrays.atomic(ctx, node, callee.array, callee.name), "old")
    if not isinstance(callee, Thing):
        raise not_callable(ctx, node, callee)
    target = callee.target
    if isinstance(target, ScalarType):
        return _cast(ctx, node, target.dtype)
    generic = generic_of(target)
    if generic is not None:
        return _cast(ctx, node, resolved(ctx, node, generic))
    if isinstance(target, DeviceFunction):
        return inline(ctx, node, cast("DeviceFunction[..., Any]", target))
    handler = HANDLERS.get(_identity(target)) or group_calls.HANDLERS.get(_identity(target))
    if handler is None:
        raise unsupported_functions.refusal(ctx, node, target)
    return handler(ctx, node)


def _identity(target: object) -> object:
    """The target itself where it can be looked up."""
    return target if isinstance(target, (type, type(call), type(len))) else id(target)


def _cast(ctx: Context, node: ast.Call, dtype: DataType) -> Value:
    (value,) = values_of(ctx, node, f"{scalar_name(dtype)}(x)", 1)
    if isinstance(value, Constant):
        number = value.value
        if dtype.is_bool and not isinstance(number, str):
            return literal(ctx, node, Constant(bool(number)), dtype)
        if isinstance(number, bool):
            value = Constant(int(number))
        return literal(ctx, node.args[0], value, dtype, alone=True)
    scalar = as_scalar(ctx, node.args[0], value)
    if scalar.form is not None:
        # To i32 it wraps around, as it says.
        is_i32 = dtype is DataType.I32
        return Scalar(as_i32(scalar.expr), dtype) if is_i32 else converted(ctx, scalar, dtype)
    if scalar.dtype is dtype:
        return Scalar(scalar.expr, dtype)
    is_open = bool(scalar.soft) and all(LITERALS in key for key in scalar.soft)
    if dtype.is_float and scalar.dtype.is_float and is_open:
        # `vy.f64(vy.math.sqrt(2.0))` is computed in f64: its literal has no other type.
        raise ctx.learn(scalar.soft, dtype, node)
    return Scalar(Cast(scalar.expr, dtype), dtype)


def _refuse_method(ctx: Context, node: ast.Call) -> None:
    """Refuse conversions that are written as methods of numpy, with the type that they name."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in advice.CONVERSIONS:
        return
    owner = ctx.expr(func.value)
    if not isinstance(owner, (Scalar, Array)) or len(node.args) != 1:
        return
    wanted = _type_named(ctx.expr(node.args[0]))
    if wanted is not None:
        is_array = isinstance(owner, Array)
        text = advice.element_of(owner) if is_array else ast.unparse(func.value)
        fix = advice.for_conversion(text, func.attr, wanted)
        what = describe(owner)
        raise ctx.error(func, codes.NO_ATTRIBUTE, what=what, name=func.attr, fix=fix)


def _type_named(value: Value) -> DataType | None:
    """The type that `vy.f32`, `np.float32` or `"float32"` stands for."""
    if isinstance(value, Constant):
        return BY_NUMPY_NAME.get(value.value) if isinstance(value.value, str) else None
    found = element_type(value.target) if isinstance(value, Thing) else None
    return found if isinstance(found, DataType) else None
