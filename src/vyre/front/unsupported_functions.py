"""Suggests replacements for functions of Python and numpy that kernels do not have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from vyre.diagnostics.codes import front as codes
from vyre.front import math
from vyre.front.advice import NUMPY_NAMES, loops_over, of_floats, operand
from vyre.front.context import Context
from vyre.front.scalars import BY_NUMPY_NAME, scalar_name
from vyre.front.values import Array, Constant, Scalar, Value
from vyre.ir import DataType

_SEVERAL = "an array of fixed length: t = vy.local(vy.f32, 8)"
_COMPUTED = "it with numbers, operators and the functions of vy and vy.math"


def refusal(ctx: Context, node: ast.Call, target: Any) -> Exception:
    """The error for a call of something that kernels cannot call."""
    module = str(getattr(target, "__module__", None) or type(target).__module__)
    name = str(getattr(target, "__name__", target))
    shown = ast.unparse(node.func)
    if module.split(".")[0] in ("numpy", "math", "cmath"):
        instead = _for_numpy(ctx, node, name, of_python=module == "math")
        return ctx.error(node, codes.FOREIGN, name=shown, instead=instead)
    if type(target).__module__.startswith("vyre.runtime"):
        instead = "a function marked @vy.func that both use: the host alone starts kernels"
        return ctx.error(node, codes.FOREIGN, name=shown, instead=instead)
    if module == "builtins":
        return ctx.error(node, codes.FOREIGN, name=shown, instead=_for_builtin(ctx, node, target))
    own = f"write it as a function: @vy.func, then def {_last_name(node.func)}(...)"
    written = isinstance(target, FunctionType) and name != "<lambda>"
    fix = "decorate it with @vy.func" if written else own
    return ctx.error(node, codes.PLAIN_FUNCTION, name=shown, fix=fix)


def _last_name(node: ast.expr) -> str:
    """A name for what is called: `f` for `f` and for `tools.f`."""
    return getattr(node, "attr", getattr(node, "id", "f"))


def _for_builtin(ctx: Context, node: ast.Call, target: Any) -> str:
    known = _WRITTEN.get(target) if isinstance(target, (type, type(len))) else None
    if known is not None:
        return known
    written = _OF_ARGUMENTS.get(target) if isinstance(target, (type, type(len))) else None
    if written is None or not node.args or (node.keywords and target is not print):
        return _COMPUTED
    return written(node.args, ctx.expr(node.args[0]))


Written = Callable[[Sequence[ast.expr], Value], str]


def _whole(args: Sequence[ast.expr], value: Value) -> str:
    text = ast.unparse(args[0])
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return f"{text} alone: it is a whole number"
    if isinstance(value, Scalar):
        return f"vy.i64({text})" if value.dtype is DataType.F64 else f"vy.i32({text})"
    return "the number itself"


def _float(args: Sequence[ast.expr], value: Value) -> str:
    text = ast.unparse(args[0])
    if isinstance(value, Scalar) and value.dtype.is_float:
        return f"{text} alone: it is a float"
    if isinstance(value, Scalar):
        return f"vy.f64({text})" if value.dtype.bits == 64 else f"vy.f32({text})"
    return "the number itself, or vy.math.inf and vy.math.nan"


def _truth(args: Sequence[ast.expr], value: Value) -> str:
    text = ast.unparse(args[0])
    if isinstance(value, Scalar) and value.dtype.is_bool:
        return f"{text} alone: it is a truth value"
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return f"{text} alone: it is a truth value"
    return f"{operand(args[0])} != 0, or vy.bool_({ast.unparse(args[0])})"


def _printed(args: Sequence[ast.expr], value: Value) -> str:
    labels = [one for one in args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    label = ast.unparse(labels[0]) if labels else '"label"'
    shown = [label, *(ast.unparse(one) for one in args if one not in labels)]
    return f"vy.print({', '.join(shown)})"


def _rounded(args: Sequence[ast.expr], value: Value) -> str:
    text = ast.unparse(args[0])
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return f"{text} alone: it is a whole number"
    if len(args) == 1:
        return f"vy.math.rint({text}), or vy.i32(vy.math.rint({text})) for a whole number"
    by = f"10.0 ** {operand(args[1])}"
    if isinstance(args[1], ast.Constant) and isinstance(args[1].value, int):
        by = str(10.0 ** args[1].value)
    return f"vy.math.rint({operand(args[0])} * {by}) / {by}"


def _operator(sign: str) -> Written:
    def written(args: Sequence[ast.expr], value: Value) -> str:
        return f" {sign} ".join(map(operand, args)) if len(args) == 2 else _COMPUTED

    return written


def _quotient(sign: str) -> Written:
    """`//` and `%`, which floats do not have, or `/`, which whole numbers do not have."""

    def written(args: Sequence[ast.expr], value: Value) -> str:
        if len(args) != 2 or not isinstance(value, Scalar):
            return _operator(sign)(args, value)
        if sign != "/" and value.dtype.is_float:
            return of_floats(sign, *args)
        if sign == "/" and value.dtype.is_integer:
            wide = "vy.f64" if value.dtype.bits == 64 else "vy.f32"
            return " / ".join(f"{wide}({ast.unparse(one)})" for one in args)
        return _operator(sign)(args, value)

    return written


def _both(args: Sequence[ast.expr], value: Value) -> str:
    a, b = (operand(args[0]), operand(args[1])) if len(args) == 2 else ("a", "b")
    return f"{a} // {b} and {a} % {b}"


def _looped(args: Sequence[ast.expr], value: Value) -> str:
    return loops_over(value) if isinstance(value, Array) else "a for loop over range"


def _kept(args: Sequence[ast.expr], value: Value) -> str:
    return f"{_looped(args, value)} that keeps a bool"


def _counted(args: Sequence[ast.expr], value: Value) -> str:
    text = ast.unparse(args[0])
    each = [f"{ast.unparse(one)}[i]" for one in args]
    return f"for i in range(len({text})), with {' and '.join(each)}"


def _length(args: Sequence[ast.expr], value: Value) -> str:
    squares = " + ".join(f"{operand(one)} * {operand(one)}" for one in args)
    return f"vy.math.sqrt({squares}), where the squares do not overflow"


_OF_ARGUMENTS: dict[Any, Written] = {
    int: _whole,
    float: _float,
    bool: _truth,
    print: _printed,
    round: _rounded,
    pow: _operator("**"),
    sum: _looped,
    divmod: _both,
    enumerate: _counted,
    zip: _counted,
    any: _kept,
    all: _kept,
}
_WRITTEN: dict[Any, str] = {
    range: "range only as: for i in range(n)",
    list: _SEVERAL,
    sorted: "a sort of your own, or numpy outside of the kernel",
    str: "numbers only",
    input: "an array that the kernel reads",
    tuple: "the values with commas: (a, b)",
    type: "nothing: types are those of the annotations",
    isinstance: "nothing: types are those of the annotations",
}
_OF_NUMPY: dict[str, Written] = {
    "round": _rounded,
    "around": _rounded,
    "remainder": _quotient("%"),
    "mod": _quotient("%"),
    "floor_divide": _quotient("//"),
    "true_divide": _quotient("/"),
    "divide": _quotient("/"),
    "add": _operator("+"),
    "subtract": _operator("-"),
    "multiply": _operator("*"),
    "hypot": _length,
    **dict.fromkeys(
        ("sum", "prod", "mean", "min", "max", "amin", "amax", "argmin", "argmax", "dot", "fsum"),
        _looped,
    ),
    "any": _kept,
    "all": _kept,
}
_MAKES_ARRAYS = frozenset(("array", "zeros", "ones", "empty", "full", "arange", "asarray"))


def _for_numpy(ctx: Context, node: ast.Call, name: str, *, of_python: bool) -> str:
    """What to write for a function of numpy or of `math`."""
    text = ", ".join(map(ast.unparse, node.args))
    dtype = BY_NUMPY_NAME.get(name)
    if dtype is not None:
        return f"{scalar_name(dtype)}({text or 'x'})"
    if name in _MAKES_ARRAYS:
        return _SEVERAL
    written = _OF_NUMPY.get(name)
    if written is not None and node.args and not node.keywords:
        return written(node.args, ctx.expr(node.args[0]))
    known = NUMPY_NAMES.get(name, name)
    ours = vars(math).get(known)
    if not isinstance(ours, FunctionType) or known.startswith("_"):
        return _COMPUTED
    if name == "log" and len(node.args) == 2:
        a, base = map(ast.unparse, node.args)
        return f"vy.math.log({a}) / vy.math.log({base})"
    if of_python and name in ("floor", "ceil", "trunc") and len(node.args) == 1:
        value = ctx.expr(node.args[0])
        if isinstance(value, Scalar) and value.dtype.is_integer:
            return f"{text} alone: it is a whole number"
        return f"vy.math.{name}({text}), or vy.i32(vy.math.{name}({text})) for a whole number"
    count = ours.__code__.co_argcount
    if len(node.args) != count or node.keywords:
        return f"vy.math.{known}({', '.join(ours.__code__.co_varnames[:count])})"
    return f"vy.math.{known}"
