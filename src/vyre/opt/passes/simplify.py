"""Algebra: every expression in the best form that the rules know."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import map_bodies, map_exprs
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassContext, PassResult, vyre_pass
from vyre.opt.rules import exact_rules, fast_rules
from vyre.rewrite.bodies import edited
from vyre.rewrite.literal_legality import Buffers, lawful_statement
from vyre.rewrite.rewriter import Rewriter


@vyre_pass(name="simplify", phase=PassPhase.SCALAR_ALGEBRA, invalidates=("ranges",))
class Simplify(Pass):
    """Applies the proved rules to every expression and folds literals.
    Legal always: a rule holds for its types, and no operand with an effect is dropped, repeated or
    moved; fast-math rules need the program's flag.
    """

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Rewrite all expressions, those seen before at the price of a look-up."""
        walk = context.caches.get("simplify")
        if walk is None or walk.fast_math is not program.fast_math:
            walk = context.caches["simplify"] = _Walk(program.fast_math)
        before = walk.rewriter.total
        entry = walk.run(program)
        return PassResult(program.with_rewritten_entry(entry), walk.rewriter.total - before)


class _Walk:
    def __init__(self, fast_math: bool) -> None:
        self.fast_math = fast_math
        self.rewriter = Rewriter(fast_rules() if fast_math else exact_rules())
        self.buffers: Buffers = {}
        self.stable: dict[int, ir.AnyStmt] = {}
        """Statements that are in their best form, by identity."""
        self.generation = 0

    def run(self, program: ir.Program) -> ir.Body:
        self.buffers = {decl.name: decl for decl in program.buffers}
        self.rewriter.begin(self.buffers)
        return self.body(program.entry)

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> ir.AnyStmt | None:
        rewriter = self.rewriter
        if self.generation != rewriter.generation:
            self.stable.clear()
            self.generation = rewriter.generation
        known = id(statement) in self.stable
        if type(statement) is ir.Let:
            new: ir.AnyStmt | None = statement
            if not known:
                new = map_exprs(statement, rewriter.rewrite)
            assert type(new) is ir.Let
            rewriter.bind(new.name, rewriter.type_of(new.value))
        elif known:
            return statement
        else:
            new = self._other(statement)
        if new is not None:
            self.stable[id(new)] = new
        return new

    def _other(self, statement: ir.AnyStmt) -> ir.AnyStmt | None:
        new: ir.AnyStmt | None = map_exprs(statement, self.rewriter.rewrite)
        if new is not statement:
            new = lawful_statement(new, statement, self.buffers)
            if new is None:
                return None
        if type(new) is ir.Loop:
            self.rewriter.bind(new.var, self.rewriter.type_of(new.start))
        return map_bodies(new, self.body) if new.body_fields else new
