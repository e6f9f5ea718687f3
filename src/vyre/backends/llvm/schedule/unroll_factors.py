"""Rounds of a loop in blocks: each set of lanes in lock-step does several before the next one does.

Loads that depend on loads keep many sets of lanes busy at once, more than there are registers. In
turns of several rounds a set's variables are fetched once per turn, while the machine, which looks
far ahead, still works on several sets at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.techniques import Technique
from vyre.ir import Assign, Lit, Loop, While
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.statements import Statements

MOST_ROUNDS = 4
MOST_NODES = 1024
"""Expressions in all copies of a loop's body together."""

IN_A_ROW = 4
SHORTEST = 16
MOST_IN_A_ROW = 512
"""Expressions in all rounds together that follow one another."""


def rounds_in_block(statements: Statements, loop: Loop) -> int:
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


def rounds_in_row(statements: Statements, loop: Loop) -> int:
    """How many rounds of a short loop follow one another without a branch.

    A machine that has to guess when the last of 32 rounds comes guesses wrong more often than with
    8 rounds, and a wrong guess costs as much as several rounds.
    """
    if not statements.lanes.width or id(loop) in statements.flow.leaves:
        return 1
    if is_large(statements.kernel.program) or not statements.kernel.allows(Technique.UNROLL):
        return 1
    if not (isinstance(loop.start, Lit) and isinstance(loop.stop, Lit)):
        return 1
    rounds = int(loop.stop.value) - int(loop.start.value)
    if rounds < SHORTEST or rounds % IN_A_ROW:
        return 1
    nodes = 0
    for inner in walk_stmts(loop.body):
        if isinstance(inner, (Loop, While)):
            return 1
        nodes += 1 + sum(1 for child in expr_children(inner) for _ in walk_expr(child))
    return IN_A_ROW if IN_A_ROW * nodes * len(statements.views) <= MOST_IN_A_ROW else 1
