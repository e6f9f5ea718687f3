"""Atomics contended by thousands of invocations, old values, orderings, out of bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre import ir
from vyre.conform.compare import Tolerance
from vyre.conform.suite.case import Stretch, Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.conform.suite.texts import written
from vyre.semantics import Array, storage_dtype
from vyre.semantics.atomics import load_of

_AREA = "atomics"
_MANY = 8192
_FEW = 1024
"""Numbers whose sum over all invocations is exact in every type."""
_JOINING = (
    *(ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.AND, ir.AtomicOp.OR, ir.AtomicOp.XOR),
    *(ir.AtomicOp.MIN, ir.AtomicOp.MAX),
)
_TYPES = (ir.DataType.U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64, ir.DataType.F32)
_ORDERINGS = [each for each in ir.MemoryOrdering if each is not ir.MemoryOrdering.GRID_SYNC]


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in _TYPES:
        for op in _JOINING:
            if dtype in op.row.operands:
                yield _contended(op, dtype, workgroup=False)
                yield _contended(op, dtype, workgroup=True)
        for op in ir.AtomicOp:
            if dtype in op.row.operands:
                yield _alone(op, dtype)
                yield _outside(op, dtype)
        yield _loads_and_stores(dtype, workgroup=False)
        yield _loads_and_stores(dtype, workgroup=True)
    for ordering in _ORDERINGS:
        yield _tickets(ordering)
    for dtype in _TYPES:
        if dtype in ir.AtomicOp.EXCHANGE.row.operands:
            yield _handed_on(dtype)
    yield _lock()


def _operands(op: ir.AtomicOp, dtype: ir.DataType) -> Array:
    """Values whose join does not depend on the order, rounding included."""
    stored = storage_dtype(dtype)
    numbers = np.arange(_MANY)
    if dtype.is_float:
        return (numbers % 64 - 20).astype(stored)
    spread = numbers.astype(np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    if op is ir.AtomicOp.AND:
        spread |= np.uint64(0x00FF_00F0_F00F_0FF0)
    if op is ir.AtomicOp.OR:
        spread &= np.uint64(0x0F0F_1248_00F0_8421)
    return spread.astype(f"u{stored.itemsize}").view(stored)


def _first(op: ir.AtomicOp, dtype: ir.DataType) -> Array:
    stored = storage_dtype(dtype)
    if op is ir.AtomicOp.AND:
        return np.full(4, -1, np.int64).astype(f"u{stored.itemsize}").view(stored)
    return np.array([0, 1, 2, 3], stored)


def _contended(op: ir.AtomicOp, dtype: ir.DataType, *, workgroup: bool) -> Trial:
    """Thousands of invocations join into four elements."""
    decls = [
        ir.BufferDecl.read("v", 0, dtype).with_count(_MANY),
        ir.BufferDecl.read_write("sums", 1, dtype).with_count(4),
    ]
    i = ir.Expr.gid(0)
    slot = i % ir.Expr.u32(4)
    value = ir.Expr.load("v", i)
    if workgroup:
        decls.append(ir.BufferDecl.workgroup("part", 4, dtype))
        lane = ir.Expr.local_id(0)
        neutral = _neutral(op, dtype)
        body: list[ir.Node] = [
            ir.Node.if_(lane < ir.Expr.u32(4), [ir.Node.store("part", lane, neutral)]),
            ir.Node.barrier(ir.MemoryOrdering.ACQ_REL),
            ir.Node.eval(ir.Expr.atomic(op, "part", slot, value)),
            ir.Node.barrier(ir.MemoryOrdering.ACQ_REL),
            ir.Node.if_(
                lane < ir.Expr.u32(4),
                [
                    ir.Node.eval(
                        ir.Expr.atomic(_merge(op), "sums", lane, ir.Expr.load("part", lane))
                    )
                ],
            ),
        ]
    else:
        body = [ir.Node.eval(ir.Expr.atomic(op, "sums", slot, value))]
    program = ir.Program.wrapped(decls, (128, 1, 1), body)
    inputs = {"v": _operands(op, dtype), "sums": _first(op, dtype)}
    where = "workgroup" if workgroup else "device"
    name = f"{op.row.spelling} {dtype} in {where} memory, {_MANY} invocations"
    stretch = Stretch(name, "sums", 0, 4)
    return Trial(_AREA, name, program, inputs, (_MANY // 128, 1, 1), (stretch,))


def _neutral(op: ir.AtomicOp, dtype: ir.DataType) -> ir.Expr:
    low, high = (-1000, 1000) if dtype.is_float else dtype.integer_range
    value = {ir.AtomicOp.MIN: high, ir.AtomicOp.MAX: low}.get(op, 0)
    if op is ir.AtomicOp.AND:
        value = -1 if dtype.is_signed else high
    return ir.Expr.lit(float(value) if dtype.is_float else value, dtype)


def _merge(op: ir.AtomicOp) -> ir.AtomicOp:
    # Workgroups subtract from zero, so their parts are added.
    return ir.AtomicOp.ADD if op is ir.AtomicOp.SUB else op


def _alone(op: ir.AtomicOp, dtype: ir.DataType) -> Trial:
    """One invocation per element: the old value comes back, the new one is there."""
    values = edge_array(dtype)
    if dtype.is_float:
        values = values[np.isfinite(values)]
    n = values.size
    left, right = np.repeat(values, n), np.tile(values, n)
    decls = [
        ir.BufferDecl.read("v", 0, dtype).with_count(n * n),
        ir.BufferDecl.read_write("m", 1, dtype).with_count(n * n),
        ir.BufferDecl.output("old", 2, dtype).with_count(n * n),
    ]
    i = ir.Expr.gid(0)
    expected = None
    if op is ir.AtomicOp.COMPARE_EXCHANGE:
        # Half of them find what they expect.
        even = (i % ir.Expr.u32(2)).eq(ir.Expr.u32(0))
        expected = ir.Expr.select(even, ir.Expr.load("m", i), ir.Expr.load("v", i))
    atomic = ir.Expr.atomic(op, "m", i, ir.Expr.load("v", i), expected)
    body = [ir.Node.if_(i < ir.Expr.u32(n * n), [ir.Node.store("old", i, atomic)])]
    program = ir.Program.wrapped(decls, (64, 1, 1), body)
    name = f"{op.row.spelling} {dtype}, operands and old value"
    tolerance = Tolerance(zero_signs=op in (ir.AtomicOp.MIN, ir.AtomicOp.MAX))
    stretches = (
        Stretch(f"{name}: new", "m", 0, n * n, tolerance),
        Stretch(f"{name}: old", "old", 0, n * n, tolerance),
    )
    grid = (-(-n * n // 64), 1, 1)
    return Trial(_AREA, name, program, {"v": right, "m": left}, grid, stretches)


def _outside(op: ir.AtomicOp, dtype: ir.DataType) -> Trial:
    """Out of bounds nothing happens and zero comes back."""
    where = np.array([-1, 0, 1, 2, 3, 4, 5, -(2**31), 2**31 - 1, 1 << 20], np.int32)
    decls = [
        ir.BufferDecl.read("where", 0, ir.DataType.I32).with_count(where.size),
        ir.BufferDecl.read_write("m", 1, dtype).with_count(4),
        ir.BufferDecl.output("old", 2, dtype).with_count(where.size),
    ]
    i = ir.Expr.gid(0)
    one = ir.Expr.lit(1.0 if dtype.is_float else 1, dtype)
    expected = one if op is ir.AtomicOp.COMPARE_EXCHANGE else None
    atomic = ir.Expr.atomic(op, "m", ir.Expr.load("where", i), one, expected)
    body = [ir.Node.if_(i < ir.Expr.u32(where.size), [ir.Node.store("old", i, atomic)])]
    program = ir.Program.wrapped(decls, (16, 1, 1), body)
    name = f"{op.row.spelling} {dtype} out of bounds"
    inputs = {"where": where, "m": np.arange(5, 9).astype(storage_dtype(dtype))}
    stretches = (
        Stretch(name, "old", 0, where.size),
        Stretch(f"{name}: memory", "m", 0, 4, whole=True),
    )
    return Trial(_AREA, name, program, inputs, (1, 1, 1), stretches)


def _loads_and_stores(dtype: ir.DataType, *, workgroup: bool) -> Trial:
    """Many invocations store the same value to each element; all load it after a barrier."""
    values = edge_array(dtype)
    if dtype.is_float:
        values = values[np.isfinite(values)]
    n = values.size
    decls = [
        ir.BufferDecl.read("v", 0, dtype).with_count(n),
        ir.BufferDecl.output("found", 1, dtype).with_count(256),
        ir.BufferDecl.read_write("m", 2, dtype).with_count(n),
    ]
    cells = "m"
    if workgroup:
        cells = "part"
        decls.append(ir.BufferDecl.workgroup(cells, n, dtype))
    i = ir.Expr.gid(0)
    # The last of n + 2 is out of bounds: its store does nothing, and its load gives zero.
    place = i % ir.Expr.u32(n + 2)
    barrier = ir.MemoryOrdering.ACQ_REL if workgroup else ir.MemoryOrdering.GRID_SYNC
    store = ir.Expr.atomic_exchange(cells, place, ir.Expr.load("v", place))
    body: list[ir.Node] = [
        ir.Node.eval(store),
        ir.Node.barrier(barrier),
        ir.Node.store("found", i, load_of(cells, place, dtype)),
    ]
    size = 256 if workgroup else 64
    program = ir.Program.wrapped(decls, (size, 1, 1), body)
    where = "workgroup" if workgroup else "device"
    name = f"atomic loads and stores of {dtype} in {where} memory"
    inputs = {"v": values, "m": np.zeros(n, storage_dtype(dtype))}
    stretches = (Stretch(name, "found", 0, 256), Stretch(f"{name}: memory", "m", 0, n, whole=True))
    return Trial(_AREA, name, program, inputs, (256 // size, 1, 1), stretches)


def _tickets(ordering: ir.MemoryOrdering) -> Trial:
    """Every invocation draws a number, and none is drawn twice."""
    text = f"""
    program workgroup(64, 1, 1)

    buffer count: read_write u32[1] @0 output live_out
    buffer drawn: read_write u32[4096] @1 output live_out

    region "tickets" {{
        let ticket = atomic_add(count[0], 1, {ordering.value})
        eval atomic_add(drawn[ticket], 1, {ordering.value})
    }}
    """
    expected = {"count": np.array([4096], np.uint32), "drawn": np.ones(4096, np.uint32)}
    return written(_AREA, f"tickets, {ordering.value}", text, {}, (64, 1, 1), expected)


def _handed_on(dtype: ir.DataType) -> Trial:
    """Exchanges by thousands: every value is taken once, or is the last one."""
    text = f"""
    program workgroup(64, 1, 1)

    buffer sum: read_write {dtype}[1] @0 output live_out
    buffer place: scratch {dtype}[1]

    region "exchanges" {{
        let taken = atomic_exchange(place[0], {dtype}(gid.x % {_FEW} + 1))
        eval atomic_add(sum[0], taken)
        barrier grid_sync
        if gid.x == 0 {{
            eval atomic_add(sum[0], place[0])
        }}
    }}
    """
    total = _MANY * (_FEW + 1) // 2
    expected = {"sum": np.array([total], storage_dtype(dtype))}
    name = f"exchange {dtype}, {_MANY} invocations"
    return written(_AREA, name, text, {}, (_MANY // 64, 1, 1), expected)


def _lock() -> Trial:
    """Compare-exchange in a loop: an addition that loses nothing."""
    text = """
    program workgroup(64, 1, 1)

    buffer total: read_write u32[1] @0 output live_out

    region "lock" {
        let done = false
        while ~done {
            let seen = atomic_add(total[0], 0)
            let old = atomic_compare_exchange(total[0], seen + 3, expected = seen)
            done = old == seen
        }
    }
    """
    expected = {"total": np.array([3 * 2048], np.uint32)}
    return written(_AREA, "compare-exchange in a loop", text, {}, (32, 1, 1), expected)
