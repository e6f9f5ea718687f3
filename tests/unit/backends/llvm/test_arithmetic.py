"""Every opcode and every cast on edge values: in vectors and lane by lane, here and anywhere."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, differences
from vyre.ir import (
    BinOp,
    BufferDecl,
    DataType,
    Expr,
    Node,
    Program,
    UnOp,
)
from vyre.ir.infer import binary_type, unary_type
from vyre.semantics import storage_dtype

INTEGERS = [
    *(DataType.U8, DataType.I8, DataType.U16, DataType.I16),
    *(DataType.U32, DataType.I32, DataType.U64, DataType.I64),
]
FLOATS = [DataType.F16, DataType.F32, DataType.F64]
SCALARS = [DataType.BOOL, *INTEGERS, DataType.BF16, *FLOATS]
HOSTS = ["native", "generic"]


@cache
def edges(dtype: DataType) -> Array:
    """Values where mistakes show: ends of the range, neighbours of powers of two, specials."""
    bits = dtype.bits or 1
    if dtype.is_bool:
        return np.array([False, True])
    points = {0, 1, 2, 3, (1 << bits) - 1, (1 << bits) - 2}
    for shift in range(bits):
        points |= {1 << shift, (1 << shift) - 1, (1 << bits) - (1 << shift)}
    if dtype.is_float:
        random = np.random.default_rng(1).integers(0, 1 << min(bits, 63), 40, np.uint64)
        points |= {int(value) for value in random}
        for value in (0.5, 1.0, 1.5, 2.5, -0.5, -1.5, 1e3, 65520.0, 255.5, -128.5, 3e9, 1.9e19):
            points.add(int(Expr.lit(value, dtype).bits))
    raw = np.array(sorted(p & ((1 << bits) - 1) for p in points), np.uint64)
    return raw.astype(f"u{bits // 8}").view(storage_dtype(dtype))


def pairs(dtype: DataType) -> tuple[Array, Array]:
    """Two arrays that bring edge values together, longer than any vector."""
    values = edges(dtype)
    left = np.repeat(values, len(values))[:1500]
    right = np.tile(values, len(values))[:1500]
    return left, right


def program_of(stores: list[tuple[DataType, Expr]], dtype: DataType) -> Program:
    """Each expression into a buffer of its own, behind the usual guard."""
    buffers = [BufferDecl.read("a", 0, dtype), BufferDecl.read("b", 1, dtype)]
    body: list[Node] = []
    for number, (result, expr) in enumerate(stores):
        buffers.append(BufferDecl.read_write(f"o{number}", 2 + number, result))
        body.append(Node.store(f"o{number}", Expr.var("i"), expr))
    guarded = Node.if_(Expr.var("i") < Expr.buf_len("a"), body)
    return Program.wrapped(buffers, (64, 1, 1), [Node.let("i", Expr.gid(0)), guarded])


def check(stores: list[tuple[DataType, Expr]], dtype: DataType, cpu: str) -> None:
    """The CPU and the reference agree on all expressions."""
    a, b = pairs(dtype)
    inputs: dict[str, Array] = {"a": a, "b": b}
    for number, (result, _) in enumerate(stores):
        inputs[f"o{number}"] = np.zeros(len(a), storage_dtype(result))
    grid = (-(-len(a) // 64), 1, 1)
    program = program_of(stores, dtype)
    assert differences(program, inputs, grid, cpu=cpu) == []


def operands() -> tuple[Expr, Expr]:
    """An element of each input."""
    return Expr.load("a", Expr.var("i")), Expr.load("b", Expr.var("i"))


@pytest.mark.parametrize("cpu", HOSTS)
@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_exact_opcodes(dtype: DataType, cpu: str) -> None:
    """All opcodes that are exact and take this type."""
    a, b = operands()
    stores: list[tuple[DataType, Expr]] = []
    for op in UnOp:
        result = unary_type(op, dtype)
        if isinstance(result, DataType) and not op.row.approximate:
            stores.append((result, Expr.unary(op, a)))
    for op in BinOp:
        result = binary_type(op, dtype, dtype)
        if isinstance(result, DataType) and not op.row.approximate:
            stores.append((result, Expr.binary(op, a, b)))
    if dtype in FLOATS:
        stores.append((dtype, Expr.fma(a, b, a)))
    stores.append((dtype, Expr.select(a.eq(b), a, b)))
    check(stores, dtype, cpu)


@pytest.mark.parametrize("cpu", HOSTS)
@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_casts(dtype: DataType, cpu: str) -> None:
    """From this type to every other, by meaning and, where as wide, by bits."""
    a, _ = operands()
    stores: list[tuple[DataType, Expr]] = [(t, Expr.cast(a, t)) for t in SCALARS]
    stores += [(t, Expr.bitcast(a, t)) for t in SCALARS if t.bits == dtype.bits and not t.is_bool]
    if dtype.is_bool:
        stores = stores[: len(SCALARS)]
    check(stores, dtype, cpu)


PACKED = [
    *(DataType.F8E4M3, DataType.F8E5M2, DataType.I4),
    *(DataType.FP4, DataType.NF4, DataType.BYTES),
]


@pytest.mark.parametrize("dtype", PACKED, ids=str)
def test_packed_elements(dtype: DataType) -> None:
    """Every code decodes, and every edge value encodes."""
    value = dtype.value_type
    program = Program.wrapped(
        [
            BufferDecl.read("codes", 0, dtype),
            BufferDecl.read_write("values", 1, value),
            BufferDecl.read("given", 2, value),
            BufferDecl.read_write("made", 3, dtype),
        ],
        (64, 1, 1),
        [
            Node.store("values", Expr.gid(0), Expr.load("codes", Expr.gid(0))),
            Node.store("made", Expr.gid(0), Expr.load("given", Expr.gid(0))),
        ],
    )
    given = edges(value)
    inputs: dict[str, Array] = {
        "codes": np.arange(256, dtype=np.uint8),
        "values": np.zeros(256, storage_dtype(value)),
        "given": given,
        "made": np.zeros(len(given), np.uint8),
    }
    assert differences(program, inputs, (8, 1, 1)) == []
