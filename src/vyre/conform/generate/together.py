"""Statements that a workgroup or the whole grid makes together: exchanges through shared memory.

Each kind writes elements of its own, waits, opens a window in which everyone reads, and waits
again before anyone writes next.
"""

from __future__ import annotations

from vyre.conform.generate.memory import Memory, Role
from vyre.conform.generate.statements import Place, Statements
from vyre.ir import AnyExpr, DataType, Expr, MemoryOrdering, Node, ReduceOp
from vyre.ir.opcodes import BinOp

_ORDERINGS = (
    *(MemoryOrdering.SEQ_CST, MemoryOrdering.SEQ_CST, MemoryOrdering.ACQ_REL),
    *(MemoryOrdering.ACQUIRE, MemoryOrdering.RELEASE),
)


class Together:
    """Adds these kinds to a maker of statements."""

    def __init__(self, statements: Statements, tile_size: int) -> None:
        self._statements = statements
        self._dice = statements.dice
        self._exprs = statements.exprs
        self._tile_size = tile_size
        self._tags = 0
        profile = statements.profile
        statements.extra += [
            (profile.barriers, self._exchange, self._has(Role.SHARED)),
            (profile.barriers + profile.atomics, self._tally, self._has(Role.TALLY)),
            (profile.async_copies, self._async_load, self._can_load),
            (profile.async_copies, self._async_store, self._has(Role.SHARED, Role.COPIED)),
            (profile.subgroups, self._subgroup, self._has()),
            (profile.grid_sync, self._relay, self._can_relay),
            (profile.grid_sync and profile.returns, self._early_return, self._may_return_early),
        ]
