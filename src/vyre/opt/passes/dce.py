"""Values that nothing wants."""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis import Liveness
from vyre.ir.walk import expr_children, map_bodies
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.usage import Usage, Variables


@vyre_pass(name="dce", phase=PassPhase.DATAFLOW, invalidates=("facts",))
class Dce(Pass):
    """Removes variables that nothing reads, assignments that are overwritten before they are read,
    and statements that hold nothing.
    Legal when evaluating what goes has no effect: an atomic in it, also one inside an operand of a
    subgroup operation, is kept and evaluated where it stood. A while may never end and stays.
    """

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Mark the variables that effects depend on, sweep the others."""
        usage = context.caches.setdefault("usage", Usage())
        sweep = _Sweep(program, Variables.of(program, usage))
        entry = edited(program.entry, sweep.top)
        return PassResult(program.with_rewritten_entry(entry), sweep.rewrites)


class _Sweep:
    def __init__(self, program: ir.Program, variables: Variables) -> None:
        self.wanted = variables.wanted()
        # Liveness is dear: ask only when some assignment could be overwritten before it is read.
        dead = Liveness.of(program).dead_writes if variables.may_overwrite else frozenset[int]()
        self.dead = dead
        self.position = -1
        self.rewrites = 0

    def top(self, statement: ir.AnyStmt) -> Change:
        if type(statement) is ir.Region:
            # An empty arm is still an arm.
            self.position += 1
            return map_bodies(statement, self.body)
        return self.statement(statement)

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        self.position += 1
        position = self.position
        if type(statement) is ir.Let:
            return statement if statement.name in self.wanted else self._gone(statement.value)
        if type(statement) is ir.Assign:
            useless = statement.name not in self.wanted or position in self.dead
            return self._gone(statement.value) if useless else statement
        if type(statement) is ir.Eval:
            return self._eval(statement)
        if not statement.body_fields:
            return statement
        new = map_bodies(statement, self.body)
        if any(getattr(new, name) for name in new.body_fields):
            return new
        if type(new) is ir.If:
            return self._gone(new.cond)
        if type(new) is ir.Loop:
            return self._gone(new.start, new.stop)
        if type(new) is ir.Block or type(new) is ir.Region:
            return self._gone()
        return new

    def _gone(self, *values: ir.AnyExpr) -> list[ir.AnyStmt]:
        self.rewrites += 1
        return [ir.Eval(effect) for value in values for effect in _effects_in(value)]

    def _eval(self, statement: ir.Eval) -> Change:
        if type(statement.value) is ir.Atomic:
            return statement
        return self._gone(statement.value)


def _effects_in(value: ir.AnyExpr) -> Iterable[ir.AnyExpr]:
    """The atomics that must still happen, in order; one among another's operands goes with it."""
    if not has_effects(value):
        return
    if type(value) is ir.Atomic:
        yield value
        return
    for child in expr_children(value):
        yield from _effects_in(child)
