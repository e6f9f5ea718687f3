"""The functions of program text: their names, how many operands they take, what they build."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from vyre.ir.expr import (
    AnyExpr,
    Ballot,
    Binary,
    Bitcast,
    Cast,
    Fma,
    MakeVec,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
)
from vyre.ir.opcodes import AtomicOp, BinOp, ReduceOp, UnOp
from vyre.ir.types import SCALAR_TYPES, DataType

Builder = Callable[..., AnyExpr]

FUNCTIONS: dict[str, tuple[int, Builder]] = {
    **{op.row.spelling: (1, partial(Unary, op)) for op in UnOp if op.row.spelling.isidentifier()},
    **{op.row.spelling: (2, partial(Binary, op)) for op in BinOp if op.row.spelling.isidentifier()},
    **{f"subgroup_{op.row.spelling}": (1, partial(SubgroupReduce, op)) for op in ReduceOp},
    **{str(dtype): (1, partial(Cast, dtype=dtype)) for dtype in SCALAR_TYPES},
    "fma": (3, Fma),
    "select": (3, Select),
    "ballot": (1, Ballot),
    "shuffle": (2, Shuffle),
}
"""Functions of expressions alone. `len`, `lane`, `bits` and atomics take other things too."""
ATOMICS = {op.row.spelling: op for op in AtomicOp}
_NAMES = (*FUNCTIONS, *ATOMICS, "len", "lane", "bits")


def make_vec(dtype: DataType) -> Builder:
    """What builds a vector of this type."""
    return lambda *lanes: MakeVec(dtype, lanes)


def typed_call(word: str, dtype: DataType) -> tuple[int | None, Builder]:
    """What `cast<T>`, `bitcast<T>` or `make<T>` takes and builds."""
    if word == "make":
        return None, make_vec(dtype)
    return 1, partial(Cast if word == "cast" else Bitcast, dtype=dtype)


def suggestion(name: str) -> str:
    """The end of a sentence that names a function spelled like `name`."""
    close = get_close_matches(name[:40], _NAMES, n=1)
    return f"; did you mean {close[0]}?" if close else ""
