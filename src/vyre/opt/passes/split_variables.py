"""Variables that are used again for something else become several."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.names import Names
from vyre.rewrite.splitting import Splitting


@vyre_pass(name="split_variables", phase=PassPhase.STRUCTURE, invalidates=("def_use",))
class SplitVariables(Pass):
    """Binds a new variable where one is assigned in the very body that bound it.
    Legal always: from there to the end of the body, where the variable ends, every way comes by
    the assignment, so whatever reads or assigns the variable later means the new one.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when a body binds a variable and assigns it."""
        if _binds_and_assigns(program.entry):
            return PassAnalysis.RUN
        for statement in walk_stmts(program.entry):
            for field in statement.body_fields:
                if _binds_and_assigns(getattr(statement, field)):
                    return PassAnalysis.RUN
        return PassAnalysis.skip("no variable is assigned in the body that binds it")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Walk in the order of execution, with the name that each variable has now."""
        walk = Splitting(Names(program))
        entry = walk.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), walk.rewrites)


def _binds_and_assigns(body: ir.Body) -> bool:
    bound: set[str] = set()
    for statement in body:
        if type(statement) is ir.Let:
            bound.add(statement.name)
        elif type(statement) is ir.Assign and statement.name in bound:
            return True
    return False
