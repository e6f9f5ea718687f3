"""Grid syncs where workgroups have nothing to tell each other."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Effects, statement_effects
from vyre.analysis.effects import NO_EFFECTS
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited


@vyre_pass(
    name="downgrade_barriers",
    phase=PassPhase.SYNC,
    family=CostModelFamily.SYNC,
    invalidates=("facts",),
)
class DowngradeBarriers(Pass):
    """Removes grid syncs that order nothing.
    Legal when no device buffer that anything before the sync touches is touched after it, unless
    both only read, no workgroup memory that was used before, which the sync clears, is used again,
    and there are not prints or traps on both sides; judged against all that comes before and
    after, not against neighbours.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a grid sync."""
        found = any(
            type(s) is ir.Barrier and s.ordering is ir.MemoryOrdering.GRID_SYNC
            for s in walk_stmts(program.entry)
        )
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no grid sync")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Judge the grid syncs of the top level, from the first to the last."""
        judge = _Judge(program)
        entry = judge.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), judge.rewrites, tuple(judge.notes))


class _Judge:
    def __init__(self, program: ir.Program) -> None:
        self.workgroup = frozenset(d.name for d in program.buffers if d.is_workgroup)
        self.local = frozenset(d.name for d in program.buffers if d.is_local)
        self.flat = list(_flattened(program.entry))
        self.index = 0
        self.rewrites = 0
        self.notes: dict[str, None] = {}

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is ir.Region or type(statement) is ir.Block:
            return map_bodies(statement, self.body)
        index = self.index
        self.index += 1
        if (
            type(statement) is not ir.Barrier
            or statement.ordering is not ir.MemoryOrdering.GRID_SYNC
        ):
            return statement
        before = _together(self.flat[:index])
        after = _together(self.flat[index + 1 :])
        return self._judged(statement, before, after)

    def _judged(self, barrier: ir.Barrier, before: Effects, after: Effects) -> Change:
        if before.opaque or after.opaque:
            return self._refused(barrier, "an opaque statement may touch anything")
        clash = (before.writes & (after.reads | after.writes)) | (before.reads & after.writes)
        between = clash - self.workgroup - self.local
        if between:
            names = ", ".join(sorted(between))
            return self._refused(barrier, f"workgroups hand over {names}")
        shared = self.workgroup & (after.reads | after.writes)
        if shared & (before.reads | before.writes):
            return self._refused(barrier, "it clears workgroup memory that is used again")
        if (before.traps or before.prints) and (after.traps or after.prints):
            return self._refused(barrier, "it orders what is printed or trapped")
        self.rewrites += 1
        return None

    def _refused(self, barrier: ir.Barrier, why: str) -> ir.AnyStmt:
        self.notes[f"a grid sync stays: {why}"] = None
        return barrier


def _flattened(body: ir.Body) -> list[ir.AnyStmt]:
    """The statements of the top level, those in regions and blocks there included."""
    found: list[ir.AnyStmt] = []
    for statement in body:
        if isinstance(statement, (ir.Region, ir.Block)):
            found += _flattened(statement.body)
        else:
            found.append(statement)
    return found


def _together(statements: list[ir.AnyStmt]) -> Effects:
    total = NO_EFFECTS
    for statement in statements:
        total |= statement_effects(statement)
    return total
