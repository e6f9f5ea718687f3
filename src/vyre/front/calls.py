"""Calls inside kernels: casts, functions of vy, device functions; all else is refused."""

from __future__ import annotations

import ast
from typing import Any, cast

from vyre.diagnostics.codes import front as codes
from vyre.front import arrays, math
from vyre.front.advice import NUMPY_NAMES
from vyre.front.agree import as_scalar, literal
from vyre.front.context import Context
from vyre.front.device_functions import DeviceFunction
from vyre.front.functions import inline
from vyre.front.intrinsic_calls import HANDLERS, resolved, values_of
from vyre.front.operators import not_callable
from vyre.front.parameters import generic_of
from vyre.front.scalars import BY_NUMPY_NAME, ScalarType, scalar_name
from vyre.front.values import Constant, Method, Scalar, Thing, Value
from vyre.ir import Cast, DataType


def call(ctx: Context, node: ast.Call) -> Value:
    """The value of a call."""
    callee = ctx.expr(node.func)
    if isinstance(callee, Method):
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
    handler = HANDLERS.get(_identity(target))
    if handler is None:
        raise _refusal(ctx, node, target)
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
        return literal(ctx, node.args[0], value, dtype)
    scalar = as_scalar(ctx, node.args[0], value)
    if scalar.dtype is dtype:
        return Scalar(scalar.expr, dtype)
    return Scalar(Cast(scalar.expr, dtype), dtype)


def _refusal(ctx: Context, node: ast.Call, target: Any) -> Exception:
    module = str(getattr(target, "__module__", None) or type(target).__module__)
    name = str(getattr(target, "__name__", target))
    shown = ast.unparse(node.func)
    if module.split(".")[0] in ("numpy", "math", "cmath"):
        dtype = BY_NUMPY_NAME.get(name)
        known = NUMPY_NAMES.get(name, name)
        if dtype is not None:
            return ctx.error(node, codes.FOREIGN, name=shown, instead=f"{scalar_name(dtype)}(x)")
        if hasattr(math, known):
            return ctx.error(node, codes.FOREIGN, name=shown, instead=f"vy.math.{known}")
        return ctx.error(node, codes.FOREIGN, name=shown, instead="a function of vy.math")
    advice = _BUILTIN_ADVICE.get(_identity(target))
    if advice is not None:
        text = ast.unparse(node.args[0]) if node.args else "x"
        if isinstance(node.args[0] if node.args else None, ast.Constant) and target is float:
            advice = "the number itself, or vy.math.inf and vy.math.nan"
        return ctx.error(
            node, codes.FOREIGN, name=shown, instead=advice.replace("(x)", f"({text})")
        )
    if type(target).__module__.startswith("vyre.runtime"):
        instead = "a function marked @vy.func that both use: the host alone starts kernels"
        return ctx.error(node, codes.FOREIGN, name=shown, instead=instead)
    if module == "builtins":
        instead = "it with numbers, operators and the functions of vy and vy.math"
        return ctx.error(node, codes.FOREIGN, name=shown, instead=instead)
    fix = "decorate it with @vy.func"
    if name == "<lambda>":
        fix = f"write it as a function: @vy.func, then def {shown}(...)"
    return ctx.error(node, codes.PLAIN_FUNCTION, name=shown, fix=fix)


_BUILTIN_ADVICE: dict[Any, str] = {
    int: "vy.i32(x)",
    float: "vy.f32(x)",
    bool: "a comparison, or vy.bool_(x)",
    print: 'vy.print("label", x)',
    round: "vy.math.rint(x)",
    pow: "vy.math.power(x, y), or x ** 2",
    sum: "a for loop over range",
    divmod: "x // y and x % y",
    range: "range only as: for i in range(n)",
    list: "vy.local(vy.f32, 8)",
    enumerate: "for i in range(len(x)) and x[i]",
    zip: "for i in range(len(x)), with x[i] and y[i]",
    sorted: "a sort of your own, or numpy outside of the kernel",
    str: "numbers only",
    input: "an array that the kernel reads",
    any: "a for loop over range(len(x)) that keeps a bool",
    all: "a for loop over range(len(x)) that keeps a bool",
    tuple: "the values with commas: (a, b)",
    type: "nothing: types are those of the annotations",
    isinstance: "nothing: types are those of the annotations",
}
