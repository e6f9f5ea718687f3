"""Guards that let in fewer lanes from round to round, and stores of some lanes of a vector."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check
from vyre.backends.llvm.analysis.triangular_guards import is_triangular_guard
from vyre.ir import BinOp, Builtin, BuiltinKind, Expr, Program
from vyre.rewrite.conditions import Conjunct

TEXT = """program workgroup({size}, 1, 1)
buffer a: read_only {dtype}[] @0
buffer out: read_write {dtype}[] @1
buffer t: workgroup {dtype}[{length}]
region "r" {{
    t[lid.x] = a[gid.x]
    barrier seq_cst
    for k in 0..{size} {{
        if lid.x {op} k {{ t[lid.x + {shift}] = t[lid.x + {shift}] * {two} - t[k] }}
        barrier seq_cst
    }}
    out[gid.x] = t[lid.x]
}}
"""
TWO = {"u8": "2u8", "i16": "2i16", "u32": "2", "f32": "2.0f32", "u64": "2u64"}


@pytest.mark.parametrize("dtype", TWO)
@pytest.mark.parametrize(("size", "length"), [(32, 32), (33, 33), (64, 40), (40, 64), (7, 3)])
def test_eliminations(dtype: str, size: int, length: int) -> None:
    data = np.random.default_rng(0).integers(0, 9, 2 * size).astype(_numpy(dtype))
    moving = TEXT.format(size=size, length=length, dtype=dtype, op=">", shift=0, two=TWO[dtype])
    # Other lanes read what a lane writes three places further on, unless it is left out.
    ahead = moving.replace("lid.x > k", "lid.x < k").replace("lid.x + 0", "lid.x + 3")
    for text in (moving, ahead.replace("- t[k]", f"- {TWO[dtype]}")):
        check(text, {"a": data, "out": np.zeros_like(data)}, (2, 1, 1))


def _numpy(dtype: str) -> np.dtype:
    return np.dtype({"u": "uint", "i": "int", "f": "float"}[dtype[0]] + dtype[1:])


def test_which_guards_move_on() -> None:
    program = Program.parse(TEXT.format(size=64, length=64, dtype="u32", op=">", shift=0, two="2"))
    lane, counter = Builtin(BuiltinKind.LOCAL_ID, 0), Expr.var("k")
    assert is_triangular_guard(Conjunct(BinOp.GT, lane, counter), program)
    assert is_triangular_guard(Conjunct(BinOp.GE, lane, counter + Expr.u32(1)), program)
    assert not is_triangular_guard(Conjunct(BinOp.LT, lane, counter), program)
    assert not is_triangular_guard(Conjunct(BinOp.GT, lane, Expr.u32(3)), program)
    assert not is_triangular_guard(Conjunct(BinOp.GT, lane, Expr.var("n")), program)
    large = TEXT.format(size=256, length=256, dtype="u32", op=">", shift=0, two="2")
    assert not is_triangular_guard(Conjunct(BinOp.GT, lane, counter), Program.parse(large))
