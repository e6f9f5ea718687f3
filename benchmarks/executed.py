"""What a launch really executes: a program counts its own statements as it runs.

A copy of the program adds one to a counter before every statement and runs on the reference. How
often a statement is executed, times what stands in it, is what a launch executes; operands are
always all evaluated, so nothing has to be guessed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from vyre.ir import AnyStmt, Atomic, Body, BufferDecl, Load, Program, Store

FIGURES = {
    "instructions": "instructions",
    "dear": "products, quotients",
    "branches": "branches",
    "device": "device memory",
    "workgroup": "workgroup memory",
    "local": "local memory",
    "device_atomics": "device atomics",
    "workgroup_atomics": "workgroup atomics",
    "barriers": "barriers",
    "grid_syncs": "grid syncs",
    "bounds_checks": "bounds checks",
    "scratch_bytes": "scratch bytes",
    "workgroup_bytes": "workgroup bytes",
}
"""What is counted, with how tables call it: barriers and workgroup bytes once per workgroup."""

_VISITS = "visits"


@dataclass(frozen=True)
class Launch:
    """Arguments and a grid for one program."""

    inputs: Mapping[str, np.ndarray[Any, Any]]
    grid: tuple[int, int, int]


def executed(program: "Program", launch: Launch, *, checked: bool = False) -> Counter[str]:
    """The figures of one launch; `checked` counts a bounds check for every access."""
    from vyre.analysis import ProgramFacts, Ranges
    from vyre.ir import Loop, While

    visits = _visits(program, launch)
    facts, ranges = ProgramFacts.of(program), Ranges.of(program)
    decls = {decl.name: decl for decl in program.buffers}
    total: Counter[str] = Counter(dict.fromkeys(FIGURES, 0))
    for position, statement in enumerate(facts.statements):
        times = visits[position]
        for name, count in _own(statement).items():
            total[name] += count * times
        for access in _accesses(statement):
            total[_space(decls[access.buffer], access)] += times
            if checked or not ranges.is_in_bounds(access, position):
                total["bounds_checks"] += times
        if isinstance(statement, (Loop, While)):
            # Every round is tested for; what a while tests is evaluated again.
            rounds = sum(visits[child] for child in facts.children(position)[:1])
            total["branches"] += rounds
            total["instructions"] += rounds * _tested(statement)
    lanes = prod(program.workgroup_size)
    for name in ("barriers", "grid_syncs"):
        total[name] //= lanes
    for decl in program.buffers:
        total["scratch_bytes"] += (decl.size_bytes or 0) * decl.is_scratch
        total["workgroup_bytes"] += (decl.size_bytes or 0) * decl.is_workgroup
    return total


def _visits(program: "Program", launch: Launch) -> list[int]:
    """How often each statement is executed, by its place in the order of the text."""
    from vyre.backends.reference import execute
    from vyre.ir import AtomicOp, BufferDecl, DataType, Expr, Node
    from vyre.ir.walk import map_bodies

    number = 0

    def counted(body: "Body") -> "Body":
        nonlocal number
        found: list[AnyStmt] = []
        for statement in body:
            one = Expr.lit(1, DataType.U64)
            found.append(Node.eval(Expr.atomic(AtomicOp.ADD, _VISITS, Expr.u32(number), one)))
            number += 1
            found.append(map_bodies(statement, counted))
        return tuple(found)

    entry = counted(program.entry)
    binding = sum(decl.binding is not None for decl in program.buffers)
    counters = BufferDecl.output(_VISITS, binding, DataType.U64).with_count(number)
    made = program.with_rewritten_entry(entry).with_rewritten_buffers([*program.buffers, counters])
    found = execute(made, launch.inputs, launch.grid).outputs[_VISITS]
    return [int(count) for count in found]


def _own(statement: "AnyStmt") -> Counter[str]:
    """What one execution of a statement does, what it holds left out."""
    from vyre.ir import AsyncWait, Barrier, Binary, BinOp, MemoryOrdering, Program
    from vyre.ir.walk import map_bodies, walk_all_exprs

    alone = map_bodies(statement, lambda _: ())
    stats = Program((), (1, 1, 1), (alone,)).stats()
    found = Counter(instructions=stats.instruction_count, branches=stats.control_flow_count)
    dear = (BinOp.MUL, BinOp.DIV, BinOp.REM)
    found["dear"] = sum(
        isinstance(expr, Binary) and expr.op in dear for expr in walk_all_exprs((alone,))
    )
    if isinstance(statement, (Barrier, AsyncWait)):
        grid = isinstance(statement, Barrier) and statement.ordering is MemoryOrdering.GRID_SYNC
        found["grid_syncs" if grid else "barriers"] += 1
    return found


def _tested(statement: "AnyStmt") -> int:
    """Instructions of the test before a round."""
    from vyre.ir import While

    return _own(statement)["instructions"] if isinstance(statement, While) else 1


def _accesses(statement: "AnyStmt") -> "list[Load | Atomic | Store]":
    from vyre.ir import Atomic, Load, Store
    from vyre.ir.walk import expr_children, walk_expr

    found: list[Load | Atomic | Store] = [statement] if isinstance(statement, Store) else []
    for child in expr_children(statement):
        found += [expr for expr in walk_expr(child) if isinstance(expr, (Load, Atomic))]
    return found


def _space(decl: "BufferDecl", access: "Load | Atomic | Store") -> str:
    from vyre.ir import Atomic

    space = "local" if decl.is_local else "workgroup" if decl.is_workgroup else "device"
    return f"{space}_atomics" if isinstance(access, Atomic) else space
