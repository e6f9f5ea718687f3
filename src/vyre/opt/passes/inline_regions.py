"""Scopes that stand for nothing: blocks, and regions inside regions, become plain statements."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.names import Names, flattened


@vyre_pass(
    name="inline_regions",
    phase=PassPhase.STRUCTURE,
    family=CostModelFamily.UNKNOWN,
    invalidates=("facts",),
)
class InlineRegions(Pass):
    """Puts the statements of blocks and of nested regions into the scope around them.
    Legal when names stay apart: what is bound elsewhere too is renamed. Regions at the top level
    stay, they are the arms of a program.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a block or a nested region."""
        if _has_work(program.entry):
            return PassAnalysis.RUN
        return PassAnalysis.skip("there are no scopes that could be dissolved")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Flatten, the innermost scopes first."""
        flatten = _Flatten(Names(program))
        entry = edited(program.entry, flatten.top)
        return PassResult(program.with_rewritten_entry(entry), flatten.rewrites)


def _has_work(entry: ir.Body) -> bool:
    tops = set(map(id, entry))
    return any(
        isinstance(s, ir.Block) or (isinstance(s, ir.Region) and id(s) not in tops)
        for s in walk_stmts(entry)
    )


class _Flatten:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.rewrites = 0

    def top(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is ir.Region:
            return map_bodies(statement, self.body)
        return self.statement(statement)

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        if not statement.body_fields:
            return statement
        new = map_bodies(statement, self.body)
        if type(new) is ir.Block or type(new) is ir.Region:
            self.rewrites += 1
            return list(flattened(new.body, self.names))
        return new
