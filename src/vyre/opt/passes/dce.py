"""Values that nothing wants."""

from __future__ import annotations

from collections.abc import Iterable

from vyre.analysis import Liveness, ProgramFacts
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Block,
    Body,
    Eval,
    If,
    Let,
    Loop,
    Program,
    Region,
)
from vyre.ir.walk import map_bodies
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.trees import children


@vyre_pass(name="dce", phase=PassPhase.DATAFLOW, invalidates=("facts",))
class Dce(Pass):
    """Removes variables that nothing reads, assignments that are overwritten before they are read,
    and statements that hold nothing.
    Legal when evaluating what goes has no effect: an atomic in it, also one inside an operand of a
    subgroup operation, is kept and evaluated where it stood. A while may never end and stays.
    """

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Mark the variables that effects depend on, sweep the others."""
        sweep = _Sweep(program)
        entry = edited(program.entry, sweep.top)
        return PassResult(program.with_rewritten_entry(entry), sweep.rewrites)


class _Sweep:
    def __init__(self, program: Program) -> None:
        facts = ProgramFacts.of(program)
        self.wanted = _wanted_names(facts)
        # Whether an assignment is overwritten matters only where there are assignments.
        self.dead = Liveness.of(program).dead_writes if facts.assigns else frozenset[int]()
        self.position = -1
        self.rewrites = 0

    def top(self, statement: AnyStmt) -> Change:
        if type(statement) is Region:
            # An empty arm is still an arm.
            self.position += 1
            return map_bodies(statement, self.body)
        return self.statement(statement)

    def body(self, body: Body) -> Body:
        return edited(body, self.statement)

    def statement(self, statement: AnyStmt) -> Change:
        self.position += 1
        position = self.position
        if type(statement) is Let:
            return statement if statement.name in self.wanted else self._gone(statement.value)
        if type(statement) is Assign:
            useless = statement.name not in self.wanted or position in self.dead
            return self._gone(statement.value) if useless else statement
        if type(statement) is Eval:
            return self._eval(statement)
        if not statement.body_fields:
            return statement
        new = map_bodies(statement, self.body)
        if any(getattr(new, name) for name in new.body_fields):
            return new
        if type(new) is If:
            return self._gone(new.cond)
        if type(new) is Loop:
            return self._gone(new.start, new.stop)
        if type(new) is Block or type(new) is Region:
            return self._gone()
        return new

    def _gone(self, *values: AnyExpr) -> list[AnyStmt]:
        self.rewrites += 1
        return [Eval(effect) for value in values for effect in _effects_in(value)]

    def _eval(self, statement: Eval) -> Change:
        if type(statement.value) is Atomic:
            return statement
        return self._gone(statement.value)


def _effects_in(value: AnyExpr) -> Iterable[AnyExpr]:
    """The atomics that must still happen, in order; one among another's operands goes with it."""
    if not has_effects(value):
        return
    if type(value) is Atomic:
        yield value
        return
    for child in children(value):
        yield from _effects_in(child)


def _wanted_names(facts: ProgramFacts) -> set[str]:
    """Names on which an effect or the control flow depends."""
    feeds: dict[str, list[str]] = {}
    waiting: list[str] = []
    statements = facts.statements
    for position, name in facts.variable_reads:
        statement = statements[position]
        if isinstance(statement, (Let, Assign)) and not has_effects(statement.value):
            feeds.setdefault(statement.name, []).append(name)
        else:
            waiting.append(name)
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(feeds.get(name, ()))
    return wanted
