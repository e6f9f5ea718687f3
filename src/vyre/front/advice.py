"""What to write instead: advice for names that do not exist and types that do not meet."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from vyre.front import math
from vyre.front.scalars import BY_NUMPY_NAME, scalar_name
from vyre.ir import DataType

NUMPY_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power",
    "abs": "absolute", "fabs": "absolute", "round": "rint",
}  # fmt: skip

_OTHER_NAMES = {
    "vy.gid()": "thread_id thread_idx global_id get_global_id program_id tid idx threadIdx grid",
    "vy.lid()": "local_id get_local_id lane_id thread_in_group",
    "vy.wid()": "group_id block_id blockIdx workgroup_id get_group_id",
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
    "vy.bool_(x)": "bool",
    "vy.select(condition, a, b)": "where cond",
    "x.atomic_add(i, 1)": "atomic_add atomicAdd",
}
_BY_OTHER_NAME = {name: ours for ours, names in _OTHER_NAMES.items() for name in names.split()}

_OF_PYTHON = frozenset({"abs", "len", "max", "min", "range"})

_OF_ARRAYS = {
    "length": "len({array})",
    "count": "{array}.size",
    "dtype": "the type of its annotation",
    "strides": "{array}[i, j], which knows them",
    "T": "{array}[j, i], or pass x.T",
    "copy": "a for loop over range that stores to another array",
    "fill": "a store of each invocation to its own element",
    "astype": "vy.f32({array}[i])",
    **dict.fromkeys(
        ("sum", "min", "max", "mean", "prod", "dot", "any", "all", "argmax", "argmin"),
        "a for loop over range(len({array}))",
    ),
}


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


def for_array(array: str, name: str, known: Iterable[str]) -> str:
    """Advice for an attribute that arrays do not have."""
    form = _OF_ARRAYS.get(name)
    if form is not None:
        return f"write {form.format(array=array)}"
    return for_attribute(array, name, ["shape", "size", "ndim", *known])


def for_number(text: str, dtype: DataType, name: str) -> str:
    """Advice for an attribute of a number."""
    if name in ("astype", "to", "view", "item"):
        return f"convert it: vy.i32({text})" if dtype.is_float else f"convert it: vy.f32({text})"
    return "numbers have no attributes: use operators and the functions of vy.math"


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
    """Advice for operands of different types: converting what loses nothing comes first."""
    texts = [ast.unparse(side) for side in sides]
    first, second = f"{scalar_name(right)}({texts[0]})", f"{scalar_name(left)}({texts[1]})"
    if left.is_bool != right.is_bool:
        number = texts[1] if left.is_bool else texts[0]
        counted = first if left.is_bool else second
        if op in ("&", "|", "^", "==", "!="):
            return f"compare the number: {_grouped(number)} != 0, or count: {counted}"
        return f"convert the truth value: {counted}"
    if left.is_float and right.is_integer:
        return f"convert the whole number: {second}"
    if right.is_float and left.is_integer:
        return f"convert the whole number: {first}"
    return f"convert one of them: {first} or {second}"


def _grouped(text: str) -> str:
    return text if text.isidentifier() else f"({text})"
