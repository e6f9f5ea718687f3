"""Folding literals gives what running would give."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.semantics.edges import edges
from vyre import semantics
from vyre.ir import BinOp, DataType, Expr, Lit, UnOp
from vyre.ir.opcodes import Result
from vyre.ir.types import SCALAR_TYPES


def values(dtype: DataType, bits: int) -> semantics.Array:
    return semantics.literal(dtype, bits)


@pytest.mark.parametrize("op", BinOp, ids=lambda op: op.name.lower())
def test_binary(op: BinOp) -> None:
    for dtype in SCALAR_TYPES:
        bits = edges(dtype)[::7]
        for a, b in zip(bits, reversed(bits), strict=True):
            found = semantics.fold_binary(op, Lit(dtype, a), Lit(dtype, b))
            if dtype not in op.row.operands:
                assert found is None
                continue
            result = DataType.BOOL if op.row.result is Result.BOOL else dtype
            value = semantics.binary(op, dtype, values(dtype, a), values(dtype, b))
            assert found == Lit(result, int(semantics.to_bits(result, value)[0]))


@pytest.mark.parametrize("op", UnOp, ids=lambda op: op.name.lower())
def test_unary(op: UnOp) -> None:
    for dtype in SCALAR_TYPES:
        for a in edges(dtype)[::5]:
            found = semantics.fold_unary(op, Lit(dtype, a))
            if dtype not in op.row.operands:
                assert found is None
                continue
            result = DataType.BOOL if op.row.result is Result.BOOL else dtype
            value = semantics.unary(op, dtype, values(dtype, a))
            assert found == Lit(result, int(semantics.to_bits(result, value)[0]))


@pytest.mark.parametrize("source", SCALAR_TYPES, ids=str)
def test_conversions(source: DataType) -> None:
    for target in SCALAR_TYPES:
        for a in edges(source)[::5]:
            found = semantics.fold_cast(Lit(source, a), target)
            if source is target:
                assert found == Lit(source, a)
            else:
                value = semantics.cast(values(source, a), source, target)
                assert found == Lit(target, int(semantics.to_bits(target, value)[0]))
            cast = semantics.fold_bitcast(Lit(source, a), target)
            same = source.bits == target.bits and DataType.BOOL not in (source, target)
            assert cast == (Lit(target, a) if same else None)


def test_select_and_fma() -> None:
    yes, no = Expr.bool_(True), Expr.bool_(False)
    assert semantics.fold_select(yes, Expr.u8(1), Expr.u8(2)) == Expr.u8(1)
    assert semantics.fold_select(no, Expr.u8(1), Expr.u8(2)) == Expr.u8(2)
    assert semantics.fold_select(yes, Expr.u8(1), Expr.u16(2)) is None
    tiny = float(np.float32(2**-24))
    once = semantics.fold_fma(Expr.f32(1 + 2**-23), Expr.f32(1 - 2**-23), Expr.f32(tiny - 1))
    assert once == Expr.f32(tiny - 2**-46)
    assert semantics.fold_fma(Expr.f32(1), Expr.f32(1), Expr.f64(1)) is None


def test_folded_nan_is_the_quiet_one() -> None:
    found = semantics.fold_binary(BinOp.DIV, Expr.f32(0.0), Expr.f32(0.0))
    assert found == Expr.f32(float("nan"))


def test_traps_of_other_optimisers() -> None:
    """x == x for NaN, -0.0 + 0.0, and division by a literal zero."""
    nan = Expr.f64(float("nan"))
    assert semantics.fold_binary(BinOp.EQ, nan, nan) == Expr.bool_(False)
    minus = semantics.fold_binary(BinOp.ADD, Expr.f32(-0.0), Expr.f32(0.0))
    assert minus == Expr.f32(0.0)
    assert semantics.fold_binary(BinOp.DIV, Expr.u32(7), Expr.u32(0)) == Expr.u32(0xFFFF_FFFF)
    assert semantics.fold_binary(BinOp.REM, Expr.i32(7), Expr.i32(0)) == Expr.i32(0)
