"""Neighbouring regions of one origin, joined."""

from __future__ import annotations

from itertools import pairwise

from vyre import ir
from vyre.ir.walk import map_bodies
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.names import Names, flattened


@vyre_pass(
    name="merge_regions",
    phase=PassPhase.STRUCTURE,
    family=CostModelFamily.FUSION,
    invalidates=("facts", "regions"),
)
class MergeRegions(Pass):
    """Joins neighbouring regions that have the same generator and source region.
    Legal always: a region never changes a value. Names that would collide are renamed, and
    statements keep their order, barriers and returns included.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when two such regions stand side by side."""
        if _has_pair(program.entry):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no two regions of one origin stand side by side")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Join from left to right."""
        merge = _Merge(Names(program))
        entry = merge.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), merge.rewrites)


def _alike(a: ir.AnyStmt, b: ir.AnyStmt) -> bool:
    if type(a) is not ir.Region or type(b) is not ir.Region:
        return False
    return a.generator == b.generator and a.source_region == b.source_region


def _has_pair(body: ir.Body) -> bool:
    if any(_alike(a, b) for a, b in pairwise(body)):
        return True
    return any(
        _has_pair(getattr(statement, name)) for statement in body for name in statement.body_fields
    )


class _Merge:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        out: list[ir.AnyStmt] = []
        changed = False
        for statement in body:
            new = map_bodies(statement, self.body) if statement.body_fields else statement
            changed = changed or new is not statement
            last = out[-1] if out else None
            if last is not None and _alike(last, new):
                assert isinstance(last, ir.Region)
                assert isinstance(new, ir.Region)
                # What the first binds at its top is now seen by the second, and is renamed.
                first = flattened(last.body, self.names)
                joined = ir.Region(last.generator, last.source_region, (*first, *new.body))
                out[-1] = joined.at(last.span)
                self.rewrites += 1
                changed = True
            else:
                out.append(new)
        return tuple(out) if changed else body
