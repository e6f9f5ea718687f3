"""Counts of what a program holds, in one walk. Selection and reports read them."""

from __future__ import annotations

from collections.abc import Iterable

from vyre.ir.buffer import BufferDecl
from vyre.ir.expr import Atomic, Ballot, BufLen, Builtin, Lit, Load, Shuffle, SubgroupReduce, Var
from vyre.ir.stmt import (
    Assign,
    AsyncLoad,
    AsyncStore,
    Barrier,
    Body,
    If,
    Let,
    Loop,
    Region,
    Store,
    While,
)
from vyre.ir.walk import bodies, expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

_LEAVES = (Lit, Var, Builtin, BufLen)
_SUBGROUP = (Ballot, Shuffle, SubgroupReduce)


@dataclass(frozen=True, slots=True)
class ProgramStats:
    """What a program holds. `node_count` counts statements, region wrappers included."""

    node_count: int
    expr_count: int
    instruction_count: int
    """Operations executed for a value or an effect: no literals, names or ids."""
    memory_op_count: int
    atomic_op_count: int
    barrier_count: int
    subgroup_op_count: int
    control_flow_count: int
    top_level_regions: int
    region_count: int
    max_nesting: int
    max_expr_depth: int
    register_pressure: int
    """The most names bound at one place."""
    static_storage_bytes: int
    """Bytes of all buffers whose size is known."""


def collect(entry: Body, buffers: Iterable[BufferDecl]) -> ProgramStats:
    """Count everything in `entry` and `buffers`."""
    counts = dict.fromkeys(
        ("nodes", "exprs", "ops", "memory", "atomics", "barriers", "subgroup", "flow", "regions"),
        0,
    )
    deepest_expr = 0
    for statement in walk_stmts(entry):
        counts["nodes"] += 1
        counts["regions"] += isinstance(statement, Region)
        counts["flow"] += isinstance(statement, (If, Loop, While))
        counts["barriers"] += isinstance(statement, Barrier)
        memory = isinstance(statement, (Store, AsyncLoad, AsyncStore))
        counts["memory"] += memory
        counts["ops"] += memory or isinstance(statement, (Assign, Barrier, If, Loop, While))
        for child in expr_children(statement):
            deepest_expr = max(deepest_expr, child.depth)
            for expr in walk_expr(child):
                counts["exprs"] += 1
                counts["ops"] += not isinstance(expr, _LEAVES)
                counts["memory"] += isinstance(expr, (Load, Atomic))
                counts["atomics"] += isinstance(expr, Atomic)
                counts["subgroup"] += isinstance(expr, _SUBGROUP)
    return ProgramStats(
        node_count=counts["nodes"],
        expr_count=counts["exprs"],
        instruction_count=counts["ops"],
        memory_op_count=counts["memory"],
        atomic_op_count=counts["atomics"],
        barrier_count=counts["barriers"],
        subgroup_op_count=counts["subgroup"],
        control_flow_count=counts["flow"],
        top_level_regions=sum(isinstance(statement, Region) for statement in entry),
        region_count=counts["regions"],
        max_nesting=max((statement.depth for statement in entry), default=0),
        max_expr_depth=deepest_expr,
        register_pressure=_pressure(entry),
        static_storage_bytes=sum(decl.size_bytes or 0 for decl in buffers),
    )


def _pressure(body: Body) -> int:
    bound = 0
    most = 0
    for statement in body:
        bound += isinstance(statement, Let)
        inner = max((_pressure(inner) for inner in bodies(statement)), default=0)
        most = max(most, bound + inner + isinstance(statement, Loop))
    return most
