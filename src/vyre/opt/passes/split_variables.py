"""Variables that are used again for something else become several."""

from __future__ import annotations

from vyre.ir import AnyStmt, Assign, Body, Let, Program
from vyre.ir.walk import map_bodies, rebuilt, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import edited
from vyre.rewrite.names import Names
from vyre.rewrite.substitute import renamed
from vyre.rewrite.trees import with_children


@vyre_pass(name="split_variables", phase=PassPhase.STRUCTURE, invalidates=("def_use",))
class SplitVariables(Pass):
    """Binds a new variable where one is assigned in the very body that bound it.
    Legal always: from there to the end of the body, where the variable ends, every way comes by
    the assignment, so whatever reads or assigns the variable later means the new one.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Run when a body binds a variable and assigns it."""
        if _binds_and_assigns(program.entry):
            return PassAnalysis.RUN
        for statement in walk_stmts(program.entry):
            for field in statement.body_fields:
                if _binds_and_assigns(getattr(statement, field)):
                    return PassAnalysis.RUN
        return PassAnalysis.skip("no variable is assigned in the body that binds it")

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Walk in the order of execution, with the name that each variable has now."""
        walk = _Walk(Names(program))
        entry = walk.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), walk.rewrites)


def _binds_and_assigns(body: Body) -> bool:
    bound: set[str] = set()
    for statement in body:
        if type(statement) is Let:
            bound.add(statement.name)
        elif type(statement) is Assign and statement.name in bound:
            return True
    return False


class _Walk:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.now: dict[str, str] = {}
        """The names of variables that have others than they were bound with."""
        self.bound: set[str] = set()
        """Variables of the body that is being walked."""
        self.rewrites = 0

    def body(self, body: Body) -> Body:
        outer_now, outer_bound = self.now, self.bound
        self.now, self.bound = dict(outer_now), set()
        new = edited(body, self.statement)
        self.now, self.bound = outer_now, outer_bound
        return new

    def statement(self, statement: AnyStmt) -> AnyStmt:
        now = self.now
        new = with_children(statement, lambda expr: renamed(expr, now)) if now else statement
        if type(new) is Let:
            self.bound.add(new.name)
            now.pop(new.name, None)
        elif type(new) is Assign:
            return self._assign(new)
        return map_bodies(new, self.body) if new.body_fields else new

    def _assign(self, statement: Assign) -> AnyStmt:
        name = statement.name
        if name in self.bound:
            self.rewrites += 1
            new = self.now[name] = self.names.fresh(name)
            return Let(new, statement.value).at(statement.span)
        new = self.now.get(name)
        return statement if new is None else rebuilt(statement, {"name": new})
