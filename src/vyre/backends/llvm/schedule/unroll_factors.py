"""Unroll-and-jam factors of loops over interleaved scalar lanes.

Hiding the latency of dependent loads takes more interleaved lanes than there are registers, so
their variables are spilled. With several iterations per lane before the next lane, the variables
are reloaded once per block, while out-of-order execution still overlaps several lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.techniques import Technique
from vyre.ir import Assign, Loop, While
from vyre.ir.walk import walk_own_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.statements import Statements


def jam_factor(statements: Statements, loop: Loop) -> int:
    """Iterations per set of lanes before the next set runs; 1 for lock-step."""
    if not statements.kernel.allows(Technique.UNROLL_AND_JAM):
        return 1
    apart = statements.apart
    if len(statements.views) == 1 or statements.lanes.width or apart is None:
        return 1
    if statements.flow.may_leave(loop):
        return 1
    nodes = 0
    for inner in walk_stmts(loop.body):
        if isinstance(inner, (Loop, While)):
            return 1
        if isinstance(inner, Assign) and inner.name not in apart.varying:
            # A variable shared by all sets must not advance with the first of them.
            return 1
        nodes += 1 + sum(1 for _ in walk_own_exprs(inner))
    factor = heuristics.MAX_JAM_FACTOR
    while factor > 1 and factor * nodes * len(statements.views) > heuristics.MAX_JAMMED_NODES:
        factor //= 2
    return factor
