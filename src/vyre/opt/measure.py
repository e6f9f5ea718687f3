"""The figures of a report, before and after every pass, at the price of what changed.

Statements are values, so what was counted of one holds for as long as it is the same object. A
`Meter` remembers the counts by object: measuring a program anew costs only the statements that a
pass replaced and those around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from typing import Any, NamedTuple

from vyre import ir
from vyre.ir.node import Tree
from vyre.ir.walk import expr_children


class EffectBits(IntFlag):
    """What running a program can do, besides computing."""

    READS = 1
    WRITES = 2
    ATOMICS = 4
    BARRIERS = 8
    SUBGROUPS = 16
    ASYNC = 32
    TRAPS = 64
    PRINTS = 128
    RETURNS = 256
    LAUNCHES = 512
    """Indirect dispatch and collectives."""
    UNKNOWN = 1024
    """Opaque statements: anything."""


_STMT_EFFECTS: dict[type[Tree], int] = {
    ir.Store: EffectBits.WRITES.value,
    ir.Barrier: EffectBits.BARRIERS.value,
    ir.AsyncLoad: EffectBits.ASYNC.value,
    ir.AsyncStore: EffectBits.ASYNC.value,
    ir.AsyncWait: (EffectBits.ASYNC | EffectBits.BARRIERS).value,
    ir.Trap: EffectBits.TRAPS.value,
    ir.Print: EffectBits.PRINTS.value,
    ir.Return: EffectBits.RETURNS.value,
    ir.IndirectDispatch: EffectBits.LAUNCHES.value,
    ir.AllReduce: EffectBits.LAUNCHES.value,
    ir.AllGather: EffectBits.LAUNCHES.value,
    ir.ReduceScatter: EffectBits.LAUNCHES.value,
    ir.Broadcast: EffectBits.LAUNCHES.value,
    ir.Opaque: EffectBits.UNKNOWN.value,
}
_EXPR_EFFECTS: dict[type[Tree], int] = {
    ir.Load: EffectBits.READS.value,
    ir.Atomic: EffectBits.ATOMICS.value,
    ir.Ballot: EffectBits.SUBGROUPS.value,
    ir.Shuffle: EffectBits.SUBGROUPS.value,
    ir.SubgroupReduce: EffectBits.SUBGROUPS.value,
}
_LEAVES = frozenset({ir.Lit, ir.Var, ir.Builtin, ir.BufLen})
_WORK = frozenset(
    {ir.Store, ir.AsyncLoad, ir.AsyncStore, ir.Assign, ir.Barrier, ir.If, ir.Loop, ir.While}
)
_FLOW = frozenset({ir.If, ir.Loop, ir.While})
_COPIES = frozenset({ir.AsyncLoad, ir.AsyncStore})


class Figures(NamedTuple):
    """What a report says of one program."""

    nodes: int
    static_storage_bytes: int
    instruction_count: int
    memory_op_count: int
    atomic_op_count: int
    barrier_count: int
    control_flow_count: int
    register_pressure: int
    ir_heap_allocations: int
    """Objects that the tree consists of, counted at every place where they stand."""
    ir_heap_bytes: int
    effect_bits: int
    linear_type_violations: int
    """Async copies that are started and not waited for, or waited for and not started."""
    shape_predicate_violations: int
    """Accesses at a literal index beyond the declared count."""


NO_FIGURES = Figures(*[0] * len(Figures._fields))
"""Those of a run that is not measured."""


# Counts of one statement and everything in it: nodes, instructions, memory, atomics, barriers,
# flow, objects, bytes, effects (or-ed), shape violations, pressure (max-ed), tags (net starts).
_Counts = tuple[int, int, int, int, int, int, int, int, int, int, int, tuple[tuple[str, int], ...]]


_NOTHING: _Counts = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ())


_DEEP = 16
"""Levels from which counts of an expression are kept: shared parts could be met without end.
Below, counting again costs less than remembering."""


class Meter:
    """Counts programs that share most of their statements."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.AnyStmt, _Counts]] = {}
        self._exprs: dict[int, tuple[ir.AnyExpr, tuple[int, int, int, int, int, int, int]]] = {}
        self._buffers: tuple[ir.BufferDecl, ...] = ()
        self._sizes: dict[str, int] = {}

    def figures(self, program: ir.Program) -> Figures:
        """What the report says of `program`."""
        if program.buffers is not self._buffers:
            # Shape violations depend on the declared counts.
            self._buffers = program.buffers
            self._sizes = {b.name: b.count for b in program.buffers if b.count}
            self._known.clear()
            self._exprs.clear()
        total = self._body(program.entry)
        return Figures(
            nodes=total[0],
            static_storage_bytes=sum(decl.size_bytes or 0 for decl in program.buffers),
            instruction_count=total[1],
            memory_op_count=total[2],
            atomic_op_count=total[3],
            barrier_count=total[4],
            control_flow_count=total[5],
            register_pressure=total[10],
            ir_heap_allocations=total[6],
            ir_heap_bytes=total[7],
            effect_bits=total[8],
            linear_type_violations=_unpaired(total[11]),
            shape_predicate_violations=total[9],
        )

    def _body(self, body: ir.Body) -> _Counts:
        if not body:
            return _NOTHING
        known = self._known
        rows: list[_Counts] = []
        bound = pressure = effects = 0
        for statement in body:
            found = known.get(id(statement))
            counts = self._statement(statement) if found is None else found[1]
            rows.append(counts)
            effects |= counts[8]
            if type(statement) is ir.Let:
                bound += 1
            if bound + counts[10] > pressure:
                pressure = bound + counts[10]
        # Column by column, because a sum over many numbers costs less than many sums.
        columns: list[Any] = list(zip(*rows, strict=True))
        sums = [sum(column) for column in columns[:8]]
        tags = sum(columns[11], start=())
        return (*sums, effects, sum(columns[9]), pressure, tags)  # type: ignore[return-value]

    def _statement(self, statement: ir.AnyStmt) -> _Counts:
        cls = type(statement)
        inner = [self._body(getattr(statement, name)) for name in cls.body_fields]
        nodes, objects, size = 1, 1, _size_of(cls)
        work = int(cls in _WORK)
        memory = int(cls is ir.Store or cls in _COPIES)
        effects = _STMT_EFFECTS.get(cls, 0)
        atomics = shape = pressure = 0
        if cls is ir.Store:
            shape += self._beyond(statement)
        for root in expr_children(statement):
            counts = self._expr(root)
            objects += counts[0]
            size += counts[1]
            work += counts[2]
            effects |= counts[3]
            memory += counts[4]
            atomics += counts[5]
            shape += counts[6]
        barriers, flow, tags = int(cls is ir.Barrier), int(cls in _FLOW), _tags(statement)
        for counts in inner:
            nodes += counts[0]
            work += counts[1]
            memory += counts[2]
            atomics += counts[3]
            barriers += counts[4]
            flow += counts[5]
            objects += counts[6]
            size += counts[7]
            effects |= counts[8]
            shape += counts[9]
            pressure = max(pressure, counts[10])
            tags += counts[11]
        pressure += cls is ir.Loop
        made = (
            *(nodes, work, memory, atomics, barriers, flow, objects, size, effects, shape),
            *(pressure, tags),
        )
        self._known[id(statement)] = (statement, made)
        return made

    def _expr(self, expr: ir.AnyExpr) -> tuple[int, int, int, int, int, int, int]:
        """Objects, bytes, instructions, effects, accesses, atomics and shape violations."""
        kind = type(expr)
        if kind in _LEAVES:
            return (1, _size_of(kind), 0, 0, 0, 0, 0)
        is_deep = expr.depth > _DEEP
        if is_deep:
            known = self._exprs.get(id(expr))
            if known is not None:
                return known[1]
        access = int(kind is ir.Load or kind is ir.Atomic)
        objects, size, work = 1, _size_of(kind), 1
        effects, memory, atomics = _EXPR_EFFECTS.get(kind, 0), access, int(kind is ir.Atomic)
        shape = self._beyond(expr) if access else 0
        for child in expr_children(expr):
            counts = self._expr(child)
            objects += counts[0]
            size += counts[1]
            work += counts[2]
            effects |= counts[3]
            memory += counts[4]
            atomics += counts[5]
            shape += counts[6]
        made = (objects, size, work, effects, memory, atomics, shape)
        if is_deep:
            self._exprs[id(expr)] = (expr, made)
        return made

    def _beyond(self, access: ir.AnyExpr | ir.AnyStmt) -> int:
        assert isinstance(access, (ir.Load, ir.Atomic, ir.Store))
        index = access.index
        if not isinstance(index, ir.Lit):
            return 0
        count = self._sizes.get(access.buffer)
        return int(count is not None and not 0 <= index.value < count)


def _tags(statement: ir.AnyStmt) -> tuple[tuple[str, int], ...]:
    if isinstance(statement, (ir.AsyncLoad, ir.AsyncStore)):
        return ((statement.tag, 1),)
    if isinstance(statement, ir.AsyncWait):
        return ((statement.tag, -1),)
    return ()


def _unpaired(tags: Iterable[tuple[str, int]]) -> int:
    started = {tag for tag, step in tags if step > 0}
    waited = {tag for tag, step in tags if step < 0}
    return len(started ^ waited)


_sizes: dict[type[Tree], int] = {}


def _size_of(cls: type[Tree]) -> int:
    size = _sizes.get(cls)
    if size is None:
        # An object of a slotted class: its header and one pointer for each slot.
        slots = len(cls.compared_fields) + (3 if cls.body_fields or "span" in dir(cls) else 2)
        size = _sizes[cls] = 16 + 8 * slots
    return size
