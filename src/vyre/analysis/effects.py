"""Effects: what an expression or a statement may do besides giving a value.

    expr_effects(expr)                  of one expression
    statement_effects(statement)        of one statement, with everything in its bodies
    ProgramEffects.of(program).at(p)    the same by position, computed once for the whole program

    is_removable(expr)   evaluating it has no side effects
    is_movable(expr)     it may be evaluated elsewhere, or twice, where its variables and the memory
                         it reads are the same

An opaque statement has every effect: its `opaque` is set, and `touches` and `changes` say yes to
every buffer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from vyre import ir
from vyre.ir.walk import expr_children
from vyre.record import dataclass

Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass(frozen=True, slots=True)
class Effects:
    """What something may do."""

    reads: Names = NOTHING
    """Buffers whose elements it may see, atomics included."""
    writes: Names = NOTHING
    """Buffers whose elements it may change, atomics included."""
    atomics: Names = NOTHING
    """Buffers it works on with atomics."""
    crosses_lanes: bool = False
    """It has subgroup operations: all invocations of the subgroup must evaluate it together."""
    synchronises: bool = False
    """It has barriers, async copies or their waits."""
    grid_synchronises: bool = False
    """It has grid syncs or collectives."""
    leaves: bool = False
    """It may return, or break or continue a loop around it."""
    traps: bool = False
    prints: bool = False
    loops: bool = False
    """It has a while, so it may never end."""
    opaque: bool = False

    def __or__(self, other: Effects) -> Effects:
        """Both together."""
        if other is NO_EFFECTS or other is self:
            return self
        if self is NO_EFFECTS:
            return other
        return Effects(
            self.reads | other.reads,
            self.writes | other.writes,
            self.atomics | other.atomics,
            self.crosses_lanes or other.crosses_lanes,
            self.synchronises or other.synchronises,
            self.grid_synchronises or other.grid_synchronises,
            self.leaves or other.leaves,
            self.traps or other.traps,
            self.prints or other.prints,
            self.loops or other.loops,
            self.opaque or other.opaque,
        )

    def touches(self, buffer: str) -> bool:
        """Whether it may see or change elements of the buffer."""
        return self.opaque or buffer in self.reads or buffer in self.writes

    def changes(self, buffer: str) -> bool:
        """Whether it may change elements of the buffer."""
        return self.opaque or buffer in self.writes

    @property
    def is_removable(self) -> bool:
        """True if executing it has no observable effect."""
        if self.writes or self.opaque or self.leaves or self.traps or self.prints:
            return False
        return not (self.synchronises or self.grid_synchronises or self.loops)


NO_EFFECTS = Effects()
EVERYTHING = Effects(
    crosses_lanes=True,
    synchronises=True,
    grid_synchronises=True,
    leaves=True,
    traps=True,
    prints=True,
    loops=True,
    opaque=True,
)


def expr_effects(expr: ir.AnyExpr) -> Effects:
    """What evaluating an expression may do."""
    found = NO_EFFECTS
    if expr.depth > 1:
        for child in expr_children(expr):
            found |= expr_effects(child)
    if isinstance(expr, ir.Load):
        return found | Effects(reads=frozenset({expr.buffer}))
    if isinstance(expr, ir.Atomic):
        names = frozenset({expr.buffer})
        return found | Effects(names, names, names)
    if isinstance(expr, (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)):
        return found | Effects(crosses_lanes=True)
    return found


def is_removable(expr: ir.AnyExpr) -> bool:
    """True if evaluating the expression has no side effects: it has no atomics."""
    if isinstance(expr, ir.Atomic):
        return False
    return expr.depth == 1 or all(is_removable(child) for child in expr_children(expr))


def is_movable(expr: ir.AnyExpr) -> bool:
    """Whether the expression may be evaluated elsewhere, or twice: no atomics, no other lanes."""
    if isinstance(expr, (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce)):
        return False
    return expr.depth == 1 or all(is_movable(child) for child in expr_children(expr))


def reads_memory(expr: ir.AnyExpr) -> bool:
    """Whether the expression loads anything."""
    if isinstance(expr, (ir.Load, ir.Atomic)):
        return True
    return expr.depth > 1 and any(reads_memory(child) for child in expr_children(expr))


def statement_effects(statement: ir.AnyStmt) -> Effects:
    """What a statement may do, everything in its bodies included."""
    found = own_effects(statement)
    for name in statement.body_fields:
        found |= body_effects(getattr(statement, name))
    return _contained(statement, found)


def body_effects(body: ir.Body) -> Effects:
    """What the statements of a body may do together."""
    found = NO_EFFECTS
    for statement in body:
        found |= statement_effects(statement)
    return found


def own_effects(statement: ir.AnyStmt) -> Effects:
    """What a statement does by itself and in its expressions, its bodies left out."""
    found = _without_operands(statement)
    for child in expr_children(statement):
        found |= expr_effects(child)
    return found


def _without_operands(statement: ir.AnyStmt) -> Effects:  # noqa: C901
    match statement:
        case ir.Let() | ir.Assign() | ir.Eval() | ir.If() | ir.Loop() | ir.Block() | ir.Region():
            return NO_EFFECTS
        case ir.IndirectDispatch() | ir.Resume():
            return NO_EFFECTS
        case ir.Store(buffer):
            return Effects(writes=frozenset({buffer}))
        case ir.While():
            return Effects(loops=True)
        case ir.Break() | ir.Continue() | ir.Return():
            return Effects(leaves=True)
        case ir.Barrier(ordering):
            grid = ordering is ir.MemoryOrdering.GRID_SYNC
            return Effects(synchronises=True, grid_synchronises=grid)
        case ir.AsyncLoad() | ir.AsyncStore():
            reads, writes = frozenset({statement.source}), frozenset({statement.destination})
            return Effects(reads, writes, synchronises=True)
        case ir.AsyncWait():
            return Effects(synchronises=True)
        case ir.Trap():
            return Effects(traps=True)
        case ir.Print():
            return Effects(prints=True)
        case ir.AllReduce(buffer) | ir.Broadcast(buffer):
            names = frozenset({buffer})
            return Effects(names, names, synchronises=True, grid_synchronises=True)
        case ir.AllGather() | ir.ReduceScatter():
            reads, writes = frozenset({statement.source}), frozenset({statement.destination})
            return Effects(reads, writes, synchronises=True, grid_synchronises=True)
        case ir.Opaque():
            return EVERYTHING
    assert_never(statement)


def _contained(statement: ir.AnyStmt, found: Effects) -> Effects:
    """A loop keeps the breaks and continues in it, unless a return is among them."""
    if found.leaves and isinstance(statement, (ir.Loop, ir.While)) and not _returns(statement.body):
        return replace(found, leaves=False)
    return found


def _returns(body: ir.Body) -> bool:
    """Whether a return, or a jump out of the loop this body belongs to, may be in the body."""
    for statement in body:
        if isinstance(statement, (ir.Return, ir.Opaque)):
            return True
        if any(_returns(getattr(statement, name)) for name in statement.body_fields):
            return True
    return False


class ProgramEffects:
    """The effects of every statement of a program, by position."""

    __slots__ = ("_found",)

    def __init__(self, program: ir.Program) -> None:
        self._found: list[Effects] = []
        self._collect(program.entry)

    @staticmethod
    def of(program: ir.Program) -> ProgramEffects:
        """The effects of a program's statements, computed once per program object."""
        return program.memo(ProgramEffects, ProgramEffects)

    def at(self, position: int) -> Effects:
        """What the statement at `position` may do, everything in its bodies included."""
        return self._found[position]

    def _collect(self, body: ir.Body) -> tuple[Effects, bool]:
        """Fill in a body; gives what it does, and whether it may return."""
        total, total_returns = NO_EFFECTS, False
        for statement in body:
            position = len(self._found)
            found = own_effects(statement)
            self._found.append(found)
            returns = isinstance(statement, (ir.Return, ir.Opaque))
            for name in statement.body_fields:
                inner, inner_returns = self._collect(getattr(statement, name))
                found |= inner
                returns = returns or inner_returns
            if found.leaves and not returns and isinstance(statement, (ir.Loop, ir.While)):
                found = replace(found, leaves=False)
            self._found[position] = found
            total |= found
            total_returns = total_returns or returns
        return total, total_returns
