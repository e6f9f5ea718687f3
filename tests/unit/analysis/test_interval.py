"""Intervals hold for every pair of operands: compared with the meaning of each opcode at 8 bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from vyre.analysis import interval
from vyre.analysis.interval import Interval
from vyre.ir import BinOp, DataType, UnOp
from vyre.semantics import cast_function
from vyre.semantics.table import binary_function, unary_function

TYPES = (DataType.U8, DataType.I8)
EDGES = {DataType.U8: (0, 1, 2, 7, 8, 127, 128, 254, 255), DataType.I8: (-128, -127, -1, 0, 1, 127)}


def values(dtype: DataType) -> np.ndarray:
    low, high = dtype.integer_range
    return np.arange(low, high + 1).astype(np.uint8 if low == 0 else np.int8)


def some_intervals(dtype: DataType, seed: int, count: int) -> list[Interval]:
    dice = random.Random(seed)
    low, high = dtype.integer_range
    found = [Interval(edge, edge) for edge in EDGES[dtype]]
    found += [Interval(a, b) for a in EDGES[dtype] for b in EDGES[dtype] if a <= b]
    for _ in range(count):
        a, b = sorted((dice.randint(low, high), dice.randint(low, high)))
        found.append(Interval(a, b))
    return found


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("op", [op for op in BinOp if DataType.U8 in op.row.operands])
def test_every_result_is_inside(op: BinOp, dtype: DataType) -> None:
    every = values(dtype)
    left, right = (side.ravel() for side in np.meshgrid(every, every, indexing="ij"))
    with np.errstate(all="ignore"):
        results = binary_function(op, dtype)(left, right).astype(np.int64).reshape(256, 256)
    low, _ = dtype.integer_range
    intervals = some_intervals(dtype, seed=op.row.tag, count=20)
    dice = random.Random(op.row.tag)
    for _ in range(400):
        a, b = dice.choice(intervals), dice.choice(intervals)
        part = results[a.low - low : a.high - low + 1, b.low - low : b.high - low + 1]
        found = interval.binary(op, a, b, dtype)
        assert found.low <= part.min(), (a, b)
        assert part.max() <= found.high, (a, b)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("op", [op for op in UnOp if DataType.U8 in op.row.operands])
def test_every_unary_result_is_inside(op: UnOp, dtype: DataType) -> None:
    every = values(dtype)
    results = unary_function(op, dtype)(every).astype(np.int64)
    low, _ = dtype.integer_range
    for a in some_intervals(dtype, seed=op.row.tag, count=100):
        part = results[a.low - low : a.high - low + 1]
        found = interval.unary(op, a, dtype)
        assert found.low <= part.min()
        assert part.max() <= found.high


@pytest.mark.parametrize("target", [DataType.U8, DataType.I8, DataType.BOOL, DataType.I32], ids=str)
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_every_conversion_is_inside(source: DataType, target: DataType) -> None:
    results = cast_function(source, target)(values(source)).astype(np.int64)
    low, _ = source.integer_range
    for a in some_intervals(source, seed=1, count=100):
        part = results[a.low - low : a.high - low + 1]
        found = interval.cast(a, source, target)
        assert found.low <= part.min()
        assert part.max() <= found.high


def test_exact_where_nothing_wraps() -> None:
    a, b = Interval(2, 5), Interval(1, 3)
    assert interval.binary(BinOp.ADD, a, b, DataType.U32) == Interval(3, 8)
    assert interval.binary(BinOp.MUL, a, b, DataType.U32) == Interval(2, 15)
    assert interval.binary(BinOp.SUB, b, a, DataType.I32) == Interval(-4, 1)
    assert interval.binary(BinOp.SUB, b, a, DataType.U32) == Interval.of_type(DataType.U32)
    mask = Interval(255, 255)
    assert interval.binary(BinOp.AND, Interval.of_type(DataType.U32), mask, DataType.U32) == (
        Interval(0, 255)
    )
    assert interval.binary(BinOp.REM, Interval.of_type(DataType.U32), b, DataType.U32) == (
        Interval(0, 2)
    )
    assert interval.binary(BinOp.LT, a, Interval(6, 9), DataType.U32) == interval.TRUE
