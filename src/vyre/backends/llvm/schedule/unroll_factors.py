"""Rounds of a loop in blocks: each set of lanes in lock-step does several before the next one does.

Loads that depend on loads keep many sets of lanes busy at once, more than there are registers. In
turns of several rounds a set's variables are fetched once per turn, while the machine, which looks
far ahead, still works on several sets at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.techniques import Technique
from vyre.ir import Assign, Loop, While
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.statements import Statements

MOST_ROUNDS = 4
MOST_NODES = 1024
"""Expressions in all copies of a loop's body together."""


def jam_factor(statements: Statements, loop: Loop) -> int:
    """How many rounds each set of lanes does in its turn; 1 when it is round by round."""
    if not statements.kernel.allows(Technique.UNROLL_AND_JAM):
        return 1
    apart = statements.apart
    if len(statements.views) == 1 or statements.lanes.width or apart is None:
        return 1
    if id(loop) in statements.flow.leaves:
        return 1
    nodes = 0
    for inner in walk_stmts(loop.body):
        if isinstance(inner, (Loop, While)):
            return 1
        if isinstance(inner, Assign) and inner.name not in apart.varying:
            # One variable of all sets must not run ahead with the first of them.
            return 1
        nodes += 1 + sum(1 for child in expr_children(inner) for _ in walk_expr(child))
    rounds = MOST_ROUNDS
    while rounds > 1 and rounds * nodes * len(statements.views) > MOST_NODES:
        rounds //= 2
    return rounds
