"""Elements that are exchanged under a condition are written back in either case."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, lowered_by
from vyre.backends.llvm.passes.if_convert_exchanges import IfConvertExchanges
from vyre.ir import If, Program
from vyre.ir.walk import walk_stmts

TEXT = """program workgroup(64, 1, 1)
buffer a: read_write {dtype}[] @0
buffer b: read_write {dtype}[] @1
buffer mine: local {dtype}[4]
region "r" {{
    let i = gid.x * 2
{body}
}}
"""
LOADS = "let x = a[i] let y = a[i + 1] "
SWAP = "if x > y { a[i] = y a[i + 1] = x }"
MADE = [
    LOADS + SWAP,
    "let x = a[i] let y = a[i + 1] let c = x * 3i32 > y if c { a[i] = y a[i + 1] = x }",
    "let x = a[i] let y = a[i + 1] let v = b[i] let w = b[i + 1]"
    " if x > y { a[i] = y a[i + 1] = x b[i] = w b[i + 1] = v }",
    "if i < 99 { let x = a[i] let y = a[i + 7] if x > y { a[i] = y a[i + 7] = x } }",
]
LEFT = [
    LOADS + "b[i] = x " + SWAP,
    LOADS + "a[i] = y " + SWAP,
    LOADS + "if x > y { a[i] = y }",
    LOADS + "if x > y { a[i] = y a[i + 1] = x } else { b[i] = x }",
    LOADS + "if x > y { a[i] = y b[i + 1] = x }",
    LOADS + "if x > y { a[i] = y a[i + 1] = 5i32 }",
    LOADS + "if x > a[i + 2] { a[i] = y a[i + 1] = x }",
    LOADS + "x = 3i32 " + SWAP,
    LOADS + "i = i + 1 " + SWAP,
    LOADS + "barrier seq_cst " + SWAP,
    LOADS + "let t = atomic_add(b[0], 1i32) " + SWAP,
    "let x = mine[0] let y = mine[1] if x > y { mine[0] = y mine[1] = x } a[i] = mine[0]",
]


def text(body: str, dtype: str = "i32") -> str:
    return TEXT.format(body=body, dtype=dtype)


def arms(program: Program) -> int:
    return sum(isinstance(s, If) for s in walk_stmts(program.entry))


@pytest.mark.parametrize("body", MADE)
def test_exchanges_that_are_made_stores(body: str) -> None:
    program = Program.parse(text(body))
    made, _ = lowered_by(IfConvertExchanges(), program)
    assert arms(made) == arms(program) - 1
    rng = np.random.default_rng(0)
    for length in (256, 201, 3, 0):
        given = {name: rng.integers(-9, 9, length, dtype=np.int32) for name in "ab"}
        check(text(body), given, (2, 1, 1))


@pytest.mark.parametrize("body", LEFT)
def test_conditionals_that_are_left_alone(body: str) -> None:
    program = Program.parse(text(body))
    assert lowered_by(IfConvertExchanges(), program)[0] is program


@pytest.mark.parametrize("dtype", ["bool", "f16"])
def test_elements_that_do_not_keep_their_bits_are_left_alone(dtype: str) -> None:
    program = Program.parse(text(LOADS + SWAP.replace("x > y", "gid.x > 5"), dtype))
    assert lowered_by(IfConvertExchanges(), program)[0] is program


def test_numbers_that_are_none_stay_where_they_are() -> None:
    given = {
        "a": np.array([np.nan, 1.0, 2.0, np.nan, -0.0, 0.0, 0.0, -0.0, np.inf], np.float32),
        "b": np.zeros(1, np.float32),
    }
    check(text(LOADS + SWAP, "f32"), given, (1, 1, 1))
