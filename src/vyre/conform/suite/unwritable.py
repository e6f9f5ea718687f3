"""Programs that must be refused and that text cannot say: made from values instead."""

from __future__ import annotations

from collections.abc import Iterator

from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import check as codes
from vyre.diagnostics.codes import typing as typing_codes
from vyre.ir import AtomicOp, BufferDecl, DataType, Expr, MemoryKind, MemoryOrdering, Node, Program
from vyre.target import Feature, Target

_SIZE = (64, 1, 1)
_ONE = Expr.u32(1)


def declarations() -> Iterator[tuple[Code, Program]]:
    """Buffers that contradict themselves or each other."""
    a = BufferDecl.read("a", 0, DataType.U32)
    tile = BufferDecl.workgroup("tile", 64, DataType.U32)
    for code, *buffers in (
        (codes.BUFFER_TWICE, a, a.with_binding(1)),
        (codes.NO_BINDING, a.with_binding(None)),
        (codes.NEEDS_NO_BINDING, tile.with_binding(0)),
        (codes.BUFFER_FLAGS, a.with_pipeline_live_out()),
        (codes.ACCESS_AND_KIND, a.with_kind(MemoryKind.SHARED)),
    ):
        yield code, Program.wrapped(buffers, _SIZE, [])


def atomics() -> Iterator[tuple[Code, Program]]:
    """An expected value where none belongs, and an ordering that only barriers have."""
    out = BufferDecl.read_write("out", 0, DataType.U32)
    expecting = Expr.atomic(AtomicOp.ADD, "out", 0, _ONE, expected=_ONE)
    yield typing_codes.ATOMIC_EXPECTED, Program.wrapped([out], _SIZE, [Node.eval(expecting)])
    syncing = Expr.atomic(AtomicOp.ADD, "out", 0, _ONE, ordering=MemoryOrdering.GRID_SYNC)
    yield codes.ATOMIC_ORDERING, Program.wrapped([out], _SIZE, [Node.eval(syncing)])


def too_large() -> Iterator[tuple[Code, Program]]:
    """Deeper or longer than any program may be."""
    body: list[Node] = [Node.return_()]
    for _ in range(70):
        body = [Node.block(body)]
    yield codes.NESTING, Program.wrapped([], _SIZE, body)
    many = Node.if_(Expr.bool_(True), [Node.eval(_ONE)] * 100_000)
    yield codes.STATEMENTS, Program.wrapped([], _SIZE, [many])
    deep, wide = Expr.gid(0), Expr.gid(0)
    for _ in range(150):
        deep = deep + _ONE
    yield codes.EXPRESSION_DEPTH, Program.wrapped([], _SIZE, [Node.let("x", deep)])
    for _ in range(40):
        wide = wide * wide
    yield codes.EXPRESSION_SIZE, Program.wrapped([], _SIZE, [Node.let("x", wide)])


def beyond(target: Target) -> Iterator[tuple[Code, Program]]:
    """More than this device has, and what it lacks."""
    out = BufferDecl.output("out", 0, DataType.U32).with_count(64)
    store = [Node.store("out", Expr.gid(0), _ONE)]
    invocations = (target.limits.max_invocations + 1, 1, 1)
    yield codes.TARGET_LIMIT, Program.wrapped([out], invocations, store)
    words = target.limits.max_workgroup_bytes // 4 + 1
    tile = BufferDecl.workgroup("tile", words, DataType.U32)
    keep = [Node.store("tile", Expr.gid(0), _ONE), *store]
    yield codes.TARGET_LIMIT, Program.wrapped([out, tile], _SIZE, keep)
    yield codes.OPAQUE_ON_TARGET, Program.wrapped([], _SIZE, [Node.opaque("nobody.knows")])
    lacking = {
        Feature.F64: Node.let("x", Expr.f64(1.0)),
        Feature.SUBGROUPS: Node.let("x", Expr.subgroup_size()),
        Feature.TRAP: Node.trap("gone"),
    }
    for feature, statement in lacking.items():
        if not target.has(feature):
            yield codes.MISSING_FEATURE, Program.wrapped([out], _SIZE, [*store, statement])
