"""Uniformity: which values and which control flow are the same for many invocations.

    u = Uniformity.of(program)
    u.variable(position)            the level of the variable that a Let or a Loop binds
    u.level_of(expr, position)      the level of an expression in the statement at `position`
    u.control(position)             how alike invocations reach the statement, returns not counted
    u.convergence(position)         the same, where invocations that returned before are missing

A position is the statement's number in the order of the text, as in `ProgramFacts`. A value has
level WORKGROUP when all invocations of a workgroup that evaluate one instance of the expression
get the same value; control has level WORKGROUP when all of them arrive there, or none.

What it answers holds for every execution; where it cannot know, it says DIVERGENT:

- a variable is at least as divergent as every value assigned to it, and as every condition and
  loop that stands between its binding and the assignment;
- a loop is as divergent as its bounds, and as the conditions around its breaks;
- what follows a continue in a loop is as divergent as the conditions around the continue;
- what follows a return, also in the next round of a loop around it, is as divergent as that return;
- memory that the program may write is divergent, and so is what an atomic gives; workgroup memory
  is not where a variable gets it between two barriers that enclose no store to it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import assert_never

from vyre import ir
from vyre.analysis.agreement_levels import LeafLevels, Level
from vyre.analysis.divergence import Builder
from vyre.ir.walk import expr_children
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """Why invocations do not agree."""

    position: int
    """The If, Loop or While to blame, or the Return or Continue by which some left."""
    leaf: ir.AnyExpr | None
    """The id, load, atomic or subgroup operation where the difference began."""
    left: bool
    """Whether some are missing because they left before."""


class Uniformity:
    """What is known about one program; get it with `Uniformity.of`."""

    __slots__ = ("_found", "_levels")

    def __init__(self, found: Builder) -> None:
        self._found = found
        self._levels = found.graph.level

    @staticmethod
    def of(program: ir.Program) -> Uniformity:
        """The uniformity of a program, computed once per program object."""
        return program.memo(Uniformity, _analyse)

    def variable(self, position: int) -> Level:
        """The level of the variable that the Let or Loop at `position` binds."""
        return Level(self._levels[self._found.variables[position]])

    def control(self, position: int) -> Level:
        """How alike invocations reach the statement, not counting those that returned before."""
        return Level(self._levels[self._found.controls[position]])

    def convergence(self, position: int) -> Level:
        """How alike invocations reach the statement; GRID and WORKGROUP allow a barrier."""
        return max(self.control(position), Level(self._levels[self._found.returns[position]]))

    def settled(self, position: int) -> frozenset[str]:
        """Workgroup buffers that nothing writes around the Let or Assign at `position`."""
        return self._found.settled.get(position, frozenset())

    def operands(self, position: int) -> Level:
        """The level of the operands of the AsyncLoad or AsyncStore at `position`."""
        return Level(self._levels[self._found.operands[position]])

    def level_of(self, expr: ir.AnyExpr, position: int) -> Level:
        """The level of an expression evaluated by the statement at `position`."""
        leaves = self._found.leaves
        match expr:
            case ir.Lit() | ir.BufLen():
                return Level.GRID
            case ir.Var(name):
                node = self._binding(name, position)
                return leaves.worst if node is None else Level(self._levels[node])
            case ir.Builtin(kind, axis):
                return leaves.builtins[kind, axis]
            case ir.Load(buffer, index):
                if buffer in leaves.constant_buffers:
                    return self.level_of(index, position)
                if buffer in self.settled(position):
                    return max(Level.WORKGROUP, self.level_of(index, position))
                return leaves.worst
            case ir.Atomic():
                return leaves.worst
            case ir.Ballot() | ir.SubgroupReduce():
                return leaves.subgroup
            case ir.Shuffle(_, lane):
                return max(leaves.subgroup, self.level_of(lane, position))
            case (
                ir.Unary()
                | ir.Binary()
                | ir.Fma()
                | ir.Select()
                | ir.Cast()
                | ir.Bitcast()
                | ir.MakeVec()
                | ir.Lane()
            ):
                return max(self.level_of(child, position) for child in expr_children(expr))
        assert_never(expr)

    def why_missing(self, position: int, allowed: Level, *, returns: bool = True) -> Cause | None:
        """Why some invocations may miss the statement; None when they agree up to `allowed`."""
        cause = self._blame(self._found.controls[position], allowed)
        if cause is None and returns:
            cause = self._blame(self._found.returns[position], allowed)
        return cause

    def why_missing_round(self, position: int, allowed: Level) -> Cause | None:
        """Why some may miss a later evaluation of the condition of the While at `position`."""
        cause = self._blame(self._found.rounds[position], allowed)
        if cause is None and position + 1 < len(self._found.returns):
            cause = self._blame(self._found.returns[position + 1], allowed)
        return cause

    def why_operands(self, position: int) -> ir.AnyExpr | None:
        """The leaf that makes the operands of the async copy at `position` differ."""
        return self._leaf(self._found.operands[position])

    def _blame(self, node: int, allowed: Level) -> Cause | None:
        """The innermost condition, or the first leavers, that make a control node divergent."""
        found = self._found
        while self._levels[node] > allowed:
            if node in found.conditions:
                return Cause(found.conditions[node], self._leaf(node), left=False)
            if node in found.leavers:
                position, earlier = found.leavers[node]
                if self._levels[earlier] <= allowed:
                    return Cause(position, self._leaf(node), left=True)
                node = earlier
            else:
                outer, own = found.bodies[node]
                node = own if self._levels[own] > allowed else outer
        return None

    def _leaf(self, node: int) -> ir.AnyExpr | None:
        graph = self._found.graph
        while graph.source[node] >= 0:
            node = graph.source[node]
        return graph.leaf.get(node)

    def _binding(self, name: str, position: int) -> int | None:
        spans = self._found.scopes.get(name, [])
        found = bisect_left(spans, (position, 0, 0)) - 1
        if found < 0:
            return None
        _, end, node = spans[found]
        return node if position < end else None


def _analyse(program: ir.Program) -> Uniformity:
    found = Builder(program, LeafLevels(program))
    found.run()
    for spans in found.scopes.values():
        spans.sort()
    return Uniformity(found)
