"""Programs that must be refused and that text cannot say: made from values instead."""

from __future__ import annotations

from collections.abc import Iterator

from vyre import ir
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import check as codes
from vyre.diagnostics.codes import typing as typing_codes
from vyre.target import Feature, Target

_SIZE = (64, 1, 1)
_ONE = ir.Expr.u32(1)


def declarations() -> Iterator[tuple[Code, ir.Program]]:
    """Buffers that contradict themselves or each other."""
    a = ir.BufferDecl.read("a", 0, ir.DataType.U32)
    tile = ir.BufferDecl.workgroup("tile", 64, ir.DataType.U32)
    for code, *buffers in (
        (codes.BUFFER_TWICE, a, a.with_binding(1)),
        (codes.NO_BINDING, a.with_binding(None)),
        (codes.NEEDS_NO_BINDING, tile.with_binding(0)),
        (codes.BUFFER_FLAGS, a.with_pipeline_live_out()),
        (codes.ACCESS_AND_KIND, a.with_kind(ir.MemoryKind.SHARED)),
    ):
        yield code, ir.Program.wrapped(buffers, _SIZE, [])


def atomics() -> Iterator[tuple[Code, ir.Program]]:
    """An expected value where none belongs, and an ordering that only barriers have."""
    out = ir.BufferDecl.read_write("out", 0, ir.DataType.U32)
    expecting = ir.Expr.atomic(ir.AtomicOp.ADD, "out", 0, _ONE, expected=_ONE)
    yield typing_codes.ATOMIC_EXPECTED, ir.Program.wrapped([out], _SIZE, [ir.Node.eval(expecting)])
    syncing = ir.Expr.atomic(ir.AtomicOp.ADD, "out", 0, _ONE, ordering=ir.MemoryOrdering.GRID_SYNC)
    yield codes.ATOMIC_ORDERING, ir.Program.wrapped([out], _SIZE, [ir.Node.eval(syncing)])


def too_large() -> Iterator[tuple[Code, ir.Program]]:
    """Deeper or longer than any program may be."""
    body: list[ir.Node] = [ir.Node.return_()]
    for _ in range(70):
        body = [ir.Node.block(body)]
    yield codes.NESTING, ir.Program.wrapped([], _SIZE, body)
    many = ir.Node.if_(ir.Expr.bool_(True), [ir.Node.eval(_ONE)] * 100_000)
    yield codes.STATEMENTS, ir.Program.wrapped([], _SIZE, [many])
    deep, wide = ir.Expr.gid(0), ir.Expr.gid(0)
    for _ in range(150):
        deep = deep + _ONE
    yield codes.EXPRESSION_DEPTH, ir.Program.wrapped([], _SIZE, [ir.Node.let("x", deep)])
    for _ in range(40):
        wide = wide * wide
    yield codes.EXPRESSION_SIZE, ir.Program.wrapped([], _SIZE, [ir.Node.let("x", wide)])


def beyond(target: Target) -> Iterator[tuple[Code, ir.Program]]:
    """More than this device has, and what it lacks."""
    out = ir.BufferDecl.output("out", 0, ir.DataType.U32).with_count(64)
    store = [ir.Node.store("out", ir.Expr.gid(0), _ONE)]
    invocations = (target.limits.max_invocations + 1, 1, 1)
    yield codes.TARGET_LIMIT, ir.Program.wrapped([out], invocations, store)
    words = target.limits.max_workgroup_bytes // 4 + 1
    tile = ir.BufferDecl.workgroup("tile", words, ir.DataType.U32)
    keep = [ir.Node.store("tile", ir.Expr.gid(0), _ONE), *store]
    yield codes.TARGET_LIMIT, ir.Program.wrapped([out, tile], _SIZE, keep)
    yield codes.OPAQUE_ON_TARGET, ir.Program.wrapped([], _SIZE, [ir.Node.opaque("no.such")])
    lacking = {
        Feature.F64: ir.Node.let("x", ir.Expr.f64(1.0)),
        Feature.SUBGROUPS: ir.Node.let("x", ir.Expr.subgroup_size()),
        Feature.TRAP: ir.Node.trap("gone"),
    }
    for feature, statement in lacking.items():
        if not target.has(feature):
            yield codes.MISSING_FEATURE, ir.Program.wrapped([out], _SIZE, [*store, statement])
