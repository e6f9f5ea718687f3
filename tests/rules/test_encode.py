"""The solver's idea of every opcode is that of `vyre.semantics`, asked about edge values."""

from __future__ import annotations

import numpy as np
import pytest
import z3

from tests.rules.encode import Encoder
from tests.rules.sampling import _edges, evaluate
from vyre import semantics
from vyre.ir import BinOp, DataType, UnOp, literal
from vyre.ir.types import SCALAR_TYPES
from vyre.rewrite.term import Term, TermKind

_UNARY = [op for op in UnOp if not op.row.approximate]
_BINARY = [op for op in BinOp if not op.row.approximate]
_FEW = 10


def _hole(name: str, dtype: DataType) -> Term:
    return Term(TermKind.HOLE, dtype, name=name)


def _result(op: UnOp | BinOp, dtype: DataType) -> DataType:
    from vyre.ir.opcodes import Result

    return DataType.BOOL if op.row.result is Result.BOOL else dtype


def _agree(term: Term, holes: dict[str, DataType]) -> None:
    edges = [_edges(dtype)[:_FEW] for dtype in holes.values()]
    columns = [column.ravel() for column in np.meshgrid(*edges, indexing="ij")]
    env = {
        name: semantics.from_bits(dtype, column)
        for (name, dtype), column in zip(holes.items(), columns, strict=True)
    }
    with np.errstate(all="ignore"):
        expected = semantics.to_bits(term.dtype, np.ascontiguousarray(evaluate(term, env)))
    make = Encoder(floats_as_bits=True)
    for row, wanted in enumerate(expected):
        values = {
            name: make.literal(dtype, int(column[row]))
            for (name, dtype), column in zip(holes.items(), columns, strict=True)
        }
        found = z3.simplify(make.term(term, values))
        assert _same(found, int(wanted), term.dtype), (term.op, values, found, wanted)


def _same(found, wanted: int, dtype: DataType) -> bool:
    if dtype.is_bool:
        return z3.is_true(found) is bool(wanted)
    if dtype.is_float and np.isnan(float(literal.decode(wanted, dtype))):
        # The solver leaves the bits of a NaN open.
        as_number = z3.fpBVToFP(found, z3.FPSort(*_SORTS[dtype]))
        return z3.is_true(z3.simplify(z3.fpIsNaN(as_number))) or not z3.is_bv_value(found)
    return z3.is_bv_value(found) and found.as_long() == wanted


_SORTS = {
    DataType.F16: (5, 11),
    DataType.BF16: (8, 8),
    DataType.F32: (8, 24),
    DataType.F64: (11, 53),
}


@pytest.mark.parametrize("op", _UNARY, ids=lambda op: op.name)
def test_unary(op: UnOp) -> None:
    for dtype in sorted(op.row.operands, key=str):
        term = Term(TermKind.UNARY, _result(op, dtype), (_hole("x", dtype),), op)
        _agree(term, {"x": dtype})


@pytest.mark.parametrize("op", _BINARY, ids=lambda op: op.name)
def test_binary(op: BinOp) -> None:
    for dtype in sorted(op.row.operands, key=str):
        args = (_hole("x", dtype), _hole("y", dtype))
        _agree(Term(TermKind.BINARY, _result(op, dtype), args, op), {"x": dtype, "y": dtype})


@pytest.mark.parametrize("source", SCALAR_TYPES, ids=str)
def test_casts(source: DataType) -> None:
    for target in SCALAR_TYPES:
        _agree(Term(TermKind.CAST, target, (_hole("x", source),)), {"x": source})


def test_fma() -> None:
    for dtype in (DataType.F16, DataType.F32, DataType.F64):
        args = tuple(_hole(name, dtype) for name in "xyz")
        _agree(Term(TermKind.FMA, dtype, args), dict.fromkeys("xyz", dtype))
