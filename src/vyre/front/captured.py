"""Values of Python that a kernel uses: literals in its text, and what its names mean outside."""

from __future__ import annotations

import ast
from typing import Any, cast

from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.context import Context
from vyre.front.scalars import BY_NUMPY_NAME
from vyre.front.source import MISSING
from vyre.front.values import Constant, Scalar, Several, Thing, Value
from vyre.ir import Expr


def written(ctx: Context, node: ast.expr, value: object) -> Value:
    """What a literal is."""
    return _bytes(value) if isinstance(value, bytes) else _constant(ctx, node, value)


def captured(ctx: Context, node: ast.expr, text: str, found: Any) -> Value:
    """What a value from outside of the kernel is in it."""
    if found is MISSING:
        known = [*ctx.frame.names, *ctx.frame.source.closure, *ctx.frame.source.scope]
        raise ctx.error(node, codes.UNKNOWN_NAME, name=text, fix=advice.for_name(text, known))
    if isinstance(found, (bool, int, float, str)):
        return _constant(ctx, node, found)
    if isinstance(found, bytes):
        return _bytes(found)
    if isinstance(found, tuple):
        items = cast("tuple[Any, ...]", found)
        return Several(tuple(captured(ctx, node, text, item) for item in items), is_table=True)
    dtype = BY_NUMPY_NAME.get(type(found).__name__)
    if dtype is not None and type(found).__module__ == "numpy":
        return Scalar(Expr.lit(found.item(), dtype), dtype)
    if type(found).__name__ in ("ndarray", "DeviceArray", "list", "dict", "set"):
        fix = advice.for_captured(text, found)
        raise ctx.error(node, codes.CAPTURED, name=text, what=_kind(found), fix=fix)
    return Thing(found)


def _kind(found: object) -> str:
    kinds = {"ndarray": "a numpy array", "DeviceArray": "a vyre array"}
    return kinds.get(type(found).__name__, f"a {type(found).__name__}")


def _bytes(value: bytes) -> Several:
    return Several(tuple(map(Constant, value)), is_table=True, of_bytes=True)


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
