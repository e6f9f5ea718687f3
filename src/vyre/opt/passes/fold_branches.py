"""Branches whose way is known, and statements that are never reached."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.removable import Dropping

_LEAVES = (ir.Return, ir.Break, ir.Continue, ir.Trap)
_INTERESTING = (ir.If, ir.While, *_LEAVES)


@vyre_pass(name="fold_branches", phase=PassPhase.CONTROL_FLOW, invalidates=("facts",))
class FoldBranches(Pass):
    """Replaces a branch whose condition is known by the arm that runs, and drops what follows a
    return, break, continue or trap.
    Legal when the condition is a literal, or both arms are the same; a condition with an atomic is
    still evaluated. Collectives stay, and what makes other statements valid, such as the start of
    an async copy.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is anything to branch or to leave."""
        found = any(isinstance(s, _INTERESTING) for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is nothing to branch or to leave")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Fold every branch that is known."""
        fold = _Fold(Dropping(program))
        entry = fold.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), fold.rewrites)


class _Fold:
    def __init__(self, dropping: Dropping) -> None:
        self.dropping = dropping
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        reached = self._reached(body)
        if reached < len(body):
            self.rewrites += len(body) - reached
            body = body[:reached]
        left = False

        def one(statement: ir.AnyStmt) -> Change:
            nonlocal left
            if left:
                return statement
            left = isinstance(statement, _LEAVES)
            return self.statement(statement) if statement.body_fields else statement

        return edited(body, one)

    def _reached(self, body: ir.Body) -> int:
        """How many statements stay: those up to the last that is reached, or must not go.

        One that must not go stays with all before it, as it may read what these bind.
        """
        leaves = (k for k, each in enumerate(body) if isinstance(each, _LEAVES))
        last = next(leaves, len(body) - 1)
        stays = (k for k in range(len(body) - 1, last, -1) if not self.dropping.allows((body[k],)))
        return next(stays, last) + 1

    def statement(self, statement: ir.AnyStmt) -> Change:
        new = map_bodies(statement, self.body)
        if type(new) is ir.If:
            return self._if(new)
        if type(new) is ir.While and _is(new.cond, 0) and self.dropping.allows(new.body):
            self.rewrites += 1
            return None
        return new

    def _if(self, new: ir.If) -> Change:
        if type(new.cond) is ir.Lit:
            taken, other = new.then, new.otherwise
            if not new.cond.bits:
                taken, other = other, taken
            if not self.dropping.allows(other):
                return new
            self.rewrites += 1
            return _kept(new.cond, taken)
        if new.then == new.otherwise:
            self.rewrites += 1
            return _kept(new.cond, new.then)
        if not new.then:
            self.rewrites += 1
            return ir.If(_negated(new.cond), new.otherwise, ()).at(new.span)
        return new


def _is(condition: ir.AnyExpr, bits: int) -> bool:
    return type(condition) is ir.Lit and condition.bits == bits


def _kept(condition: ir.AnyExpr, arm: ir.Body) -> list[ir.AnyStmt]:
    """What is left of an if: its condition where evaluating it matters, and one arm."""
    before: list[ir.AnyStmt] = [ir.Eval(condition)] if has_effects(condition) else []
    return [*before, ir.Block(arm)] if arm else before


def _negated(condition: ir.AnyExpr) -> ir.AnyExpr:
    if type(condition) is ir.Unary and condition.op is ir.UnOp.NOT:
        return condition.operand
    return ir.Unary(ir.UnOp.NOT, condition)
