"""Branches whose way is known, and statements that are never reached."""

from __future__ import annotations

from vyre.analysis import Ranges
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Block,
    Body,
    Break,
    Continue,
    Eval,
    If,
    Lit,
    Program,
    Return,
    Trap,
    Unary,
    UnOp,
    While,
)
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects

_LEAVES = (Return, Break, Continue, Trap)
_INTERESTING = (If, While, *_LEAVES)


@vyre_pass(name="fold_branches", phase=PassPhase.CONTROL_FLOW, invalidates=("facts",))
class FoldBranches(Pass):
    """Replaces a branch whose condition is known by the arm that runs, and drops what follows a
    return, break, continue or trap.
    Legal when the condition is a literal or integer ranges decide it for every invocation; a
    condition with an atomic is still evaluated.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Run when there is anything to branch or to leave."""
        found = any(isinstance(s, _INTERESTING) for s in walk_stmts(program.entry))
        return PassAnalysis.RUN if found else PassAnalysis.SKIP

    def transform(self, program: Program, context: PassContext) -> PassResult:
        """Fold every branch that is known."""
        fold = _Fold(program)
        entry = fold.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), fold.rewrites)


class _Fold:
    def __init__(self, program: Program) -> None:
        self.ranges = Ranges.of(program)
        self.position = -1
        self.rewrites = 0

    def body(self, body: Body) -> Body:
        left = False

        def one(statement: AnyStmt) -> Change:
            nonlocal left
            if left:
                # Positions count every statement of the program, also those that go.
                self.position += _count(statement)
                self.rewrites += 1
                return None
            new = self.statement(statement)
            left = isinstance(statement, _LEAVES)
            return new

        return edited(body, one)

    def statement(self, statement: AnyStmt) -> Change:
        self.position += 1
        position = self.position
        new = map_bodies(statement, self.body) if statement.body_fields else statement
        if type(statement) is If:
            assert type(new) is If
            return self._if(statement, new, position)
        if type(statement) is While and self._known(statement.cond, position) is False:
            self.rewrites += 1
            return Eval(statement.cond) if has_effects(statement.cond) else None
        return new

    def _if(self, old: If, new: If, position: int) -> Change:
        holds = self._known(old.cond, position)
        if holds is not None:
            self.rewrites += 1
            return _kept(old.cond, new.then if holds else new.otherwise)
        if new.then == new.otherwise:
            self.rewrites += 1
            return _kept(old.cond, new.then)
        if not new.then:
            self.rewrites += 1
            return If(_negated(new.cond), new.otherwise, ()).at(new.span)
        return new

    def _known(self, condition: AnyExpr, position: int) -> bool | None:
        if type(condition) is Lit:
            return bool(condition.bits)
        return self.ranges.decided(condition, position)


def _kept(condition: AnyExpr, arm: Body) -> list[AnyStmt]:
    """What is left of an if: its condition where evaluating it matters, and one arm."""
    before: list[AnyStmt] = [Eval(condition)] if has_effects(condition) else []
    return [*before, Block(arm)] if arm else before


def _negated(condition: AnyExpr) -> AnyExpr:
    if type(condition) is Unary and condition.op is UnOp.NOT:
        return condition.operand
    return Unary(UnOp.NOT, condition)


def _count(statement: AnyStmt) -> int:
    return sum(1 for _ in walk_stmts((statement,)))
