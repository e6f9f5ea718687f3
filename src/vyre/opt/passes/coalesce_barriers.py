"""Barriers with nothing to order between them."""

from __future__ import annotations

from math import prod

from vyre import ir
from vyre.analysis import statement_effects
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import edited

_GRID = ir.MemoryOrdering.GRID_SYNC
_STRENGTH = {
    ir.MemoryOrdering.RELAXED: 0,
    ir.MemoryOrdering.ACQUIRE: 1,
    ir.MemoryOrdering.RELEASE: 1,
    ir.MemoryOrdering.ACQ_REL: 2,
    ir.MemoryOrdering.SEQ_CST: 3,
    ir.MemoryOrdering.GRID_SYNC: 4,
}


@vyre_pass(
    name="coalesce_barriers",
    phase=PassPhase.SYNC,
    family=CostModelFamily.SYNC,
    invalidates=("facts",),
)
class CoalesceBarriers(Pass):
    """Joins barriers between which no memory is touched, drops those at the end of the program,
    and workgroup barriers of workgroups that have one invocation.
    Legal because a barrier only orders accesses: the stronger of two stays, a wait for an async
    copy counts as a barrier and stays itself, and what may leave or trap in between is in the way.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a barrier."""
        found = any(type(s) is ir.Barrier for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no barrier")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Join within every body, then drop what stands at the very end."""
        join = _Join(alone=prod(program.workgroup_size) == 1)
        entry = join.without_last(join.body(program.entry))
        return PassResult(program.with_rewritten_entry(entry), join.rewrites)


class _Join:
    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        out: list[ir.AnyStmt] = []
        last: int | None = None
        """Where in `out` the last barrier stands, if nothing since has touched memory."""
        changed = False
        for statement in body:
            new = map_bodies(statement, self.body) if statement.body_fields else statement
            changed = changed or new is not statement
            if type(new) is ir.Barrier and self.alone and new.ordering is not _GRID:
                self.rewrites += 1
                changed = True
                continue
            if type(new) is ir.Barrier or type(new) is ir.AsyncWait:
                if last is not None and self._joined(out, last, new):
                    changed = True
                    if type(new) is ir.Barrier:
                        continue
                last = len(out)
            elif last is not None and not _is_quiet(new):
                last = None
            out.append(new)
        return tuple(out) if changed else body

    def _joined(self, out: list[ir.AnyStmt], last: int, new: ir.Barrier | ir.AsyncWait) -> bool:
        """Whether `new` and the barrier before it became one; `out` is changed accordingly."""
        before = out[last]
        if isinstance(new, ir.AsyncWait):
            # The wait is a barrier of the workgroup; it makes a plain one before it superfluous.
            if isinstance(before, ir.Barrier) and before.ordering is not _GRID:
                del out[last]
                self.rewrites += 1
                return True
            return False
        if isinstance(before, ir.AsyncWait):
            if new.ordering is _GRID:
                return False
        elif isinstance(before, ir.Barrier):
            out[last] = ir.Barrier(_stronger(before.ordering, new.ordering)).at(before.span)
        self.rewrites += 1
        return True

    def without_last(self, body: ir.Body) -> ir.Body:
        """The body without a barrier after which nothing follows."""
        if not body:
            return body
        final = body[-1]
        if type(final) is ir.Barrier:
            self.rewrites += 1
            return self.without_last(body[:-1])
        if type(final) is ir.Region:
            return edited(body, lambda s: map_bodies(s, self.without_last) if s is final else s)
        return body


def _is_quiet(statement: ir.AnyStmt) -> bool:
    """Whether it touches no memory and always goes on."""
    found = statement_effects(statement)
    return found.is_removable and not found.reads and not found.crosses_lanes


def _stronger(a: ir.MemoryOrdering, b: ir.MemoryOrdering) -> ir.MemoryOrdering:
    if {a, b} == {ir.MemoryOrdering.ACQUIRE, ir.MemoryOrdering.RELEASE}:
        return ir.MemoryOrdering.ACQ_REL
    return a if _STRENGTH[a] >= _STRENGTH[b] else b
