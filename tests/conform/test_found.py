"""What the suite and the fuzzer have found, so that it stays found."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.conform.subject import Subject
from vyre.ir import BinOp, BufferDecl, DataType, Expr, Node, Program


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_minus_infinity_to_a_huge_even_negative_power_is_zero(device: str) -> None:
    decls = [
        BufferDecl.read("x", 0, DataType.F64).with_count(1),
        BufferDecl.read("y", 1, DataType.F64).with_count(1),
        BufferDecl.output("out", 2, DataType.F64).with_count(1),
    ]
    value = Expr.binary(BinOp.POW, Expr.load("x", 0), Expr.load("y", 0))
    program = Program.wrapped(decls, (1, 1, 1), [Node.store("out", 0, value)])
    inputs = {"x": np.array([-np.inf]), "y": np.array([-(2.0**63)])}
    out = Subject.of(device).run(program, inputs, (1, 1, 1))["out"]
    assert out[0] == 0.0
    assert not np.signbit(out[0])
