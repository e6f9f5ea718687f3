"""Subgroups: size, lanes, ballots, shuffles and reductions, whole and partial."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre import ir
from vyre.conform.compare import Tolerance
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.conform.suite.texts import written
from vyre.ir.types import SCALAR_TYPES
from vyre.semantics import Array, storage_dtype
from vyre.target import Target

_AREA = "subgroups"
_SIZES = ((64, 1, 1), (33, 1, 1), (7, 1, 1), (8, 4, 2), (1, 1, 1))
_SHUFFLED = tuple(dtype for dtype in SCALAR_TYPES)


def trials(target: Target) -> Iterator[Trial]:
    """The whole area."""
    for size in _SIZES:
        yield _ids(size, target.subgroup_width)
        yield _ballots(size)
        for op in ir.ReduceOp:
            for dtype in SCALAR_TYPES:
                if dtype in op.row.operands and (size == (64, 1, 1) or dtype is ir.DataType.I32):
                    yield _reduction(op, dtype, size)
    for dtype in _SHUFFLED:
        yield _shuffles(dtype)


def _linear(size: tuple[int, int, int]) -> str:
    return f"(lid.x + lid.y * {size[0]} + lid.z * {size[0] * size[1]})"


def _ids(size: tuple[int, int, int], width: int) -> Trial:
    n = size[0] * size[1] * size[2]
    text = f"""
    program workgroup{size}

    buffer lanes: read_write u32[{n}] @0 output live_out
    buffer widths: read_write u32[{n}] @1 output live_out

    region "ids" {{
        let me = {_linear(size)}
        lanes[me] = subgroup_lane
        widths[me] = subgroup_size
    }}
    """
    me = np.arange(n, dtype=np.uint32)
    expected = {"lanes": me % width, "widths": np.full(n, width, np.uint32)}
    return written(_AREA, f"size and lane, {size}", text, {}, (1, 1, 1), expected)


def _ballots(size: tuple[int, int, int]) -> Trial:
    n = size[0] * size[1] * size[2]
    text = f"""
    program workgroup{size}

    buffer v: read_only u32[{2 * n}] @0
    buffer out: read_write vec4<u32>[{2 * n}] @1 output live_out

    region "ballots" {{
        let me = {_linear(size)} + wid.x * {n}
        out[me] = ballot(v[me] % 3 == 0)
    }}
    """
    v = np.arange(2 * n, dtype=np.uint32) * 5 + 1
    return written(_AREA, f"ballots, {size}", text, {"v": v}, (2, 1, 1), each="out")


def _data(op: ir.ReduceOp, dtype: ir.DataType, count: int) -> Array:
    """Values whose reduction does not depend on the order, rounding included."""
    stored = storage_dtype(dtype)
    numbers = np.arange(count)
    if dtype.is_float and op is ir.ReduceOp.MUL:
        return np.where(numbers % 5 == 0, 2.0, np.where(numbers % 5 == 1, 0.5, -1.0)).astype(stored)
    if dtype.is_float and op is ir.ReduceOp.ADD:
        return (numbers % 16 - 5).astype(stored)
    if dtype.is_float:
        return np.resize(edge_array(dtype), count)
    if dtype.is_bool:
        return (numbers % 7 != 3).view(np.bool_)
    return np.resize(edge_array(dtype), count)


def _reduction(op: ir.ReduceOp, dtype: ir.DataType, size: tuple[int, int, int]) -> Trial:
    n = size[0] * size[1] * size[2]
    sx, sy, _ = size
    me = (
        ir.Expr.local_id(0)
        + ir.Expr.local_id(1) * ir.Expr.u32(sx)
        + ir.Expr.local_id(2) * ir.Expr.u32(sx * sy)
    )
    i = ir.Expr.var("i")
    decls = [
        ir.BufferDecl.read("v", 0, dtype).with_count(3 * n),
        ir.BufferDecl.output("out", 1, dtype).with_count(3 * n),
    ]
    body = [
        ir.Node.let("i", me + ir.Expr.workgroup_id(0) * ir.Expr.u32(n)),
        ir.Node.store("out", i, ir.Expr.subgroup_reduce(op, ir.Expr.load("v", i))),
    ]
    program = ir.Program.wrapped(decls, size, body)
    name = f"subgroup {op.row.spelling} of {dtype}, {size}"
    tolerance = Tolerance(zero_signs=op in (ir.ReduceOp.MIN, ir.ReduceOp.MAX))
    stretch = Stretch(name, "out", 0, 3 * n, tolerance)
    return Trial(_AREA, name, program, {"v": _data(op, dtype, 3 * n)}, (3, 1, 1), (stretch,))


def _shuffles(dtype: ir.DataType) -> Trial:
    """From lanes that are there, and from lanes that are not."""
    n = 48
    sources = np.array([(3 * k) % 40 - 4 for k in range(n)], np.int32)
    sources[-3:] = [2**31 - 1, -(2**31), 200]
    decls = [
        ir.BufferDecl.read("v", 0, dtype).with_count(n),
        ir.BufferDecl.read("from_", 1, ir.DataType.I32).with_count(n),
        ir.BufferDecl.output("out", 2, dtype).with_count(n),
    ]
    i = ir.Expr.gid(0)
    value = ir.Expr.subgroup_shuffle(ir.Expr.load("v", i), ir.Expr.load("from_", i))
    program = ir.Program.wrapped(decls, (n, 1, 1), [ir.Node.store("out", i, value)])
    data = np.resize(edge_array(dtype), n)
    inputs = {"v": data.view(np.bool_) if dtype.is_bool else data, "from_": sources}
    name = f"shuffles of {dtype}"
    return Trial(_AREA, name, program, inputs, (1, 1, 1), (Stretch(name, "out", 0, n),))
