"""What to write instead: advice for names that do not exist and types that do not meet."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from copy import deepcopy
from typing import Any

from vyre.front import intrinsics, math, scalars
from vyre.front.scalars import BY_NUMPY_NAME, scalar_name
from vyre.front.values import Array
from vyre.ir import DataType
from vyre.signals import is_from_handler

NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power",
    "abs": "absolute", "fabs": "absolute", "round": "rint",
}  # fmt: skip

_OTHER_NAMES = {
    "vy.gid()": "thread_id global_id get_global_id tid idx grid",
    "vy.lid()": "local_id get_local_id thread_idx threadIdx thread_in_group",
    "vy.wid()": "group_id block_id blockIdx workgroup_id get_group_id program_id",
    "vy.subgroup_lane()": "lane_id laneid simd_lane",
    "vy.group_size()": "block_dim blockDim workgroup_size local_size",
    "vy.num_groups()": "grid_dim gridDim num_blocks num_workgroups",
    "vy.barrier()": "syncthreads sync_threads sync workgroup_barrier group_barrier",
    "vy.grid_sync()": "sync_grid global_barrier",
    "vy.shared(vy.f32, 256)": "shared_array shared_memory workgroup",
    "vy.local(vy.f32, 8)": "local_array private",
    "vy.math.inf": "inf infinity INFINITY",
    "vy.math.pi": "pi PI",
    "vy.f32(x)": "float float_ cast",
    "vy.i32(x)": "int int_",
    "vy.select(condition, a, b)": "where cond",
    "x.atomic_add(i, 1)": "atomic_add atomicAdd",
}
_BY_OTHER_NAME = {name: ours for ours, names in _OTHER_NAMES.items() for name in names.split()}

_OF_PYTHON = frozenset({"abs", "len", "max", "min", "range"})

_OF_ARRAYS = {
    "length": "len({array})",
    "count": "{array}.size",
    "dtype": "the type of its annotation",
    "strides": "{element}, which knows them",
    "copy": "a for loop over range that stores to another array",
    "fill": "a store of each invocation to its own element",
    "astype": "a type around an element, such as vy.f32({element})",
    **dict.fromkeys(
        ("sum", "min", "max", "mean", "prod", "dot", "any", "all", "argmax", "argmin"), "{loops}"
    ),
}


def for_module(owner: str, module: object, name: str) -> str:
    """Advice for an attribute that a module does not have: of ours what kernels can use."""
    of_mathematics = getattr(module, "__name__", "") in ("numpy", "math", "cmath")
    if of_mathematics or module is math:
        known = NUMPY_NAMES.get(name, name)
        if known in _of_math():
            return f"write vy.math.{known}"
        return for_attribute("vy.math", name, _of_math())
    if owner == "vy":
        known = [one for one, value in vars(intrinsics).items() if callable(value)]
        return for_attribute(owner, name, [*known, *scalars.__all__])
    return for_attribute(owner, name, dir(module))


def _of_math() -> list[str]:
    home = math.__name__
    return [
        name
        for name, value in vars(math).items()
        if isinstance(value, float) or getattr(value, "__module__", None) == home
    ]


def for_attribute(owner: str, name: str, known: Iterable[str]) -> str:
    """Advice for an attribute that a module or an object does not have."""
    if owner == "vy":
        dtype = BY_NUMPY_NAME.get(name)
        ours = scalar_name(dtype) if dtype is not None else _BY_OTHER_NAME.get(name)
        if ours is None and name in _OF_PYTHON:
            ours = f"Python's {name}: {name}(...)"
        maths = NUMPY_NAMES.get(name, name)
        if ours is None and callable(vars(math).get(maths)) and not name.startswith("_"):
            ours = f"vy.math.{maths}"
        if ours is not None:
            return f"write {ours}"
    public = [one for one in known if not one.startswith("_")]
    close = _close(name, public, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(f"{owner}.{one}" for one in close) + "?"
    if len(public) <= 16:
        return "known are: " + ", ".join(public)
    return f"dir({owner}) lists what there is"


def for_array(array: Array, name: str, known: Iterable[str]) -> str:
    """Advice for an attribute that arrays do not have."""
    form = _OF_ARRAYS.get(name)
    if name == "T":
        swapped = f"{array.name}[j, i]" if array.rank == 2 else element_of(array)
        return f"write {swapped}, or pass {array.name}.T"
    if form is not None:
        parts = {"array": array.name, "element": element_of(array), "loops": loops_over(array)}
        return f"write {form.format(**parts)}"
    return for_attribute(array.name, name, ["shape", "size", "ndim", *known])


def element_of(array: Array, letters: Sequence[str] = "ijk") -> str:
    """An element of an array, as a kernel writes it."""
    return f"{array.name}[{', '.join(letters[: array.rank])}]"


def counters(taken: Collection[str]) -> list[str]:
    """Names for loop variables that a function does not use for something else."""
    return [letter for letter in "ijkmnpqrstuvw" if letter not in taken] or ["index"]


def loops_over(array: Array) -> str:
    """The loops that visit every element of an array."""
    if array.rank == 1:
        return f"a for loop over range(len({array.name}))"
    extents = [f"range({array.name}.shape[{axis}])" for axis in range(array.rank)]
    return f"for loops over {' and '.join(extents)}"


def for_number(text: str, dtype: DataType, name: str) -> str:
    """Advice for an attribute of a number."""
    if name in ("item", "tolist"):
        return "leave it out: it is a number"
    if name == "view":
        bits = next(one for one in _WORDS if one.bits == dtype.bits) if dtype.is_float else None
        return for_conversion(text, name, bits or DataType.F32)
    if name in ("astype", "to"):
        return for_conversion(text, name, DataType.I32 if dtype.is_float else DataType.F32)
    return "numbers have no attributes: use operators and the functions of vy.math"


CONVERSIONS = ("astype", "to", "view")
"""Methods of numpy and others that convert, and are told which type they convert to."""

_WORDS = (DataType.U8, DataType.U16, DataType.U32, DataType.U64)


def for_conversion(text: str, name: str, wanted: DataType) -> str:
    """Advice for a conversion that is written as a method of numpy."""
    if name == "view":
        return f"read its bits: vy.bitcast({text}, {scalar_name(wanted)})"
    return f"convert it: {scalar_name(wanted)}({text})"


def for_captured(name: str, found: Any) -> str:
    """Advice for an array or a container around the kernel that it cannot read."""
    kind = type(found).__name__
    if kind in ("dict", "set"):
        return "pass what it holds as an array that is indexed by a number"
    name = name.rpartition(".")[2]
    if kind != "list":
        dtype = BY_NUMPY_NAME.get(str(found.dtype))
        if dtype is None or found.ndim > 3:
            return "pass it as an argument, of a type that vy has and of 1 to 3 axes"
        return f"pass it as an argument: {name}: {_parameter(dtype, found.ndim)}"
    import numpy as np  # for those who need advice

    try:
        array: Any = np.array(found)
    except ValueError as problem:  # its rows are of different lengths
        if is_from_handler(problem):
            raise
        return "make it a tuple"
    dtype = {"b": DataType.BOOL, "i": DataType.I32, "f": DataType.F32}.get(array.dtype.kind)
    if dtype is None or array.ndim > 3:
        return "make it a tuple"
    theirs = next(theirs for theirs, ours in BY_NUMPY_NAME.items() if ours is dtype)
    made = f"np.array({name}, np.{theirs})"
    shown = f"{name}: {_parameter(dtype, array.ndim)}"
    return f"make it a tuple, or pass {made} as an argument: {shown}"


def _parameter(dtype: DataType, rank: int) -> str:
    shown = scalar_name(dtype)
    return {0: shown, 1: f"vy.In[{shown}]"}.get(rank, f"vy.In[{shown}, {rank}]")


def for_name(name: str, known: Iterable[str]) -> str:
    """Advice for a name that means nothing."""
    close = _close(name, list(dict.fromkeys(known)), n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "assign it before, make it a parameter, or define it outside of the kernel"


def _close(name: str, known: list[str], n: int, cutoff: float) -> list[str]:
    from difflib import get_close_matches  # for those who need advice

    return get_close_matches(name, known, n=n, cutoff=cutoff)


def for_types(op: str, left: DataType, right: DataType, sides: tuple[ast.AST, ast.AST]) -> str:
    """Advice for operands of different types: a conversion that keeps every value comes first."""
    texts = [ast.unparse(side) for side in sides]
    first, second = f"{scalar_name(right)}({texts[0]})", f"{scalar_name(left)}({texts[1]})"
    if left.is_bool != right.is_bool:
        number = sides[1] if left.is_bool else sides[0]
        counted = first if left.is_bool else second
        if op in ("&", "|", "^", "==", "!="):
            return f"count: {counted}, or compare the number: {operand(number)} != 0"
        return f"convert the truth value: {counted}"
    if left.is_float and right.is_integer and left is not DataType.F16:
        return f"convert the whole number: {second}"
    if right.is_float and left.is_integer and right is not DataType.F16:
        return f"convert the whole number: {first}"
    if left.is_float and right.is_float and left.bits != right.bits:
        is_left = (left.bits or 0) < (right.bits or 0)
        narrow, wide, found = (0, right, left) if is_left else (1, left, right)
        return f"convert the narrower one: {cast(sides[narrow], wide, found)}"
    if holds(left, right):
        return f"convert the narrower one: {second}"
    if holds(right, left):
        return f"convert the narrower one: {first}"
    whole = left.is_integer and right.is_integer
    common = next((one for one in _COMMON[whole] if holds(one, left) and holds(one, right)), None)
    if common is not None:
        wide = scalar_name(common)
        return f"convert both to what holds both: {wide}({texts[0]}) and {wide}({texts[1]})"
    # No type holds u64 and what is negative.
    wide = [f"vy.i64({text})" for text in texts if DataType.I64 not in (left, right)]
    wide = wide or [second if left.is_signed else first]
    return f"convert it if it is below 2**63: {' and '.join(wide)}"


_COMMON = (
    (DataType.F32, DataType.F64),
    (DataType.I16, DataType.I32, DataType.I64),
)


def holds(wide: DataType, narrow: DataType) -> bool:
    """Whether every number of one type is a number of the other, or the nearest float to it."""
    if wide.is_integer and narrow.is_integer:
        low, high = wide.integer_range
        least, most = narrow.integer_range
        return low <= least and most <= high
    if narrow.is_integer:
        return wide in (DataType.F32, DataType.F64)
    return wide.is_float and (wide.bits or 0) > (narrow.bits or 0)


def operand(node: ast.AST) -> str:
    """The text of an expression, in brackets where an operator stands next to it."""
    text = ast.unparse(node)
    whole = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant))
    return text if whole else f"({text})"


def of_floats(symbol: str, left: ast.AST, right: ast.AST) -> str:
    """What to write in place of `//`, `%` or `divmod` of floats."""
    a, b = operand(left), operand(right)
    quotient = f"vy.math.floor({a} / {b})"
    rest = f"{a} - {b} * {quotient}"
    if symbol == "divmod":
        return f"{quotient} and {rest}, which round the quotient first"
    return f"{quotient if symbol == '//' else rest}, which rounds the quotient first"


def cast(node: ast.AST, dtype: DataType, found: DataType) -> str:
    """A conversion of an expression to a type, in code.

    To a wider type it converts what the expression is computed from: `vy.math.sqrt(vy.f64(2.0))`
    has more digits than `vy.f64(vy.math.sqrt(2.0))`, and `vy.i32(a[i]) * vy.i32(b[i])` does not
    wrap around where `vy.i32(a[i] * b[i])` does.
    """
    is_number = found.is_integer or found.is_float
    is_wider = is_number and holds(dtype, found) and (dtype.bits or 0) > (found.bits or 0)
    if not is_wider or not isinstance(node, ast.expr):
        return f"{scalar_name(dtype)}({ast.unparse(node)})"
    has_names = any(isinstance(part, (ast.Subscript, ast.Name)) for part in _leaves(node))
    return ast.unparse(_Widened(scalar_name(dtype), has_names).visit(deepcopy(node)))


def _leaves(node: ast.expr) -> list[ast.expr]:
    """What an expression is computed from by operators and functions of vy.math."""
    match node:
        case ast.BinOp(left, _, right):
            return [*_leaves(left), *_leaves(right)]
        case ast.UnaryOp(_, operand):
            return _leaves(operand)
        case ast.Call(func, args, []) if _is_of_math(func):
            return [leaf for each in args for leaf in _leaves(each)]
        case _:
            return [node]


def _is_of_math(func: ast.expr) -> bool:
    return ast.unparse(func).split(".")[-2:-1] == ["math"]


class _Widened(ast.NodeTransformer):
    """Converts the leaves of an expression; literals take the type of what they meet."""

    def __init__(self, name: str, has_names: bool) -> None:
        self._name = name
        self._has_names = has_names

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, with its leaves converted."""
        assert isinstance(node, ast.expr)
        match node:
            case ast.BinOp():
                node.left, node.right = self._of(node.left), self._of(node.right)
            case ast.UnaryOp():
                node.operand = self._of(node.operand)
            case ast.Call(func, args, []) if _is_of_math(func):
                node.args = [self._of(each) for each in args]
            case ast.Constant() if self._has_names:
                pass
            case _:
                return ast.parse(f"{self._name}({ast.unparse(node)})", mode="eval").body
        return node

    def _of(self, node: ast.expr) -> ast.expr:
        made = self.visit(node)
        assert isinstance(made, ast.expr)
        return made
