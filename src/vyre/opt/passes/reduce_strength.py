"""Dear operations as cheap ones."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Ranges
from vyre.ir.walk import expr_children, map_bodies, map_exprs, walk_all_exprs, walk_expr
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.opt.rules import strength_rules
from vyre.rewrite.bodies import edited
from vyre.rewrite.folding import value_of
from vyre.rewrite.literal_legality import lawful_statement
from vyre.rewrite.matcher import Bound, build
from vyre.rewrite.rewriter import Rewriter
from vyre.rewrite.term import Term, TermKind

_DEAR = frozenset({ir.BinOp.MUL, ir.BinOp.DIV, ir.BinOp.REM})


@vyre_pass(name="reduce_strength", phase=PassPhase.CLEANUP, invalidates=("ranges",))
class ReduceStrength(Pass):
    """Multiplies, divides and takes remainders by powers of two with shifts and masks.
    Legal by the proved rules: always for unsigned numbers and for products; for signed division
    and remainders only where ranges prove that the dividend is not negative.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when something is multiplied or divided by a power of two."""
        for expr in walk_all_exprs(program.entry):
            if type(expr) is ir.Binary and expr.op in _DEAR and _is_power(expr.right):
                return PassAnalysis.RUN
        return PassAnalysis.skip("nothing is multiplied or divided by a power of two")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Apply the rules, statement by statement."""
        walk = _Walk(program)
        entry = walk.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), walk.rewriter.total)


def _is_power(expr: ir.AnyExpr) -> bool:
    return type(expr) is ir.Lit and expr.dtype.is_integer and expr.bits.bit_count() == 1


class _Walk:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.rewriter = Rewriter(strength_rules(), self.proves)
        self.buffers = {decl.name: decl for decl in program.buffers}
        self.rewriter.begin(self.buffers)
        self.position = -1

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> ir.AnyStmt | None:
        self.position += 1
        rewriter = self.rewriter
        new = statement
        if any(map(_has_dear, expr_children(statement))):
            if any(map(_divides, expr_children(statement))):
                # What ranges prove holds here and perhaps nowhere else.
                rewriter.forget()
            new = lawful_statement(map_exprs(statement, rewriter.rewrite), statement, self.buffers)
            if new is None:
                return None
        if type(new) is ir.Let:
            rewriter.bind(new.name, rewriter.type_of(new.value))
        elif type(new) is ir.Loop:
            rewriter.bind(new.var, rewriter.type_of(new.start))
        return map_bodies(new, self.body) if new.body_fields else new

    def proves(self, guard: Term, bound: Bound) -> bool:
        """Whether literals and ranges show that every part of the guard holds."""
        if guard.kind is TermKind.BINARY and guard.op is ir.BinOp.AND and guard.dtype.is_bool:
            return all(self.proves(part, bound) for part in guard.args)
        if all(type(bound[hole.name]) is ir.Lit for hole in guard.holes()):
            value = value_of(build(guard, bound))
            return value is not None and value.bits == 1
        return self._proves_sign(guard, bound)

    def _proves_sign(self, guard: Term, bound: Bound) -> bool:
        if guard.op is not ir.BinOp.GE or guard.args[1].kind is not TermKind.LITERAL:
            return False
        operand, bits = guard.args[0], guard.args[1].bits
        if operand.kind is not TermKind.HOLE or bits != 0:
            return False
        known = Ranges.of(self.program).interval(bound[operand.name], self.position)
        return known is not None and known.low >= 0


def _divides(expr: ir.AnyExpr) -> bool:
    return any(
        type(inner) is ir.Binary and inner.op in (ir.BinOp.DIV, ir.BinOp.REM)
        for inner in walk_expr(expr)
    )


def _has_dear(expr: ir.AnyExpr) -> bool:
    return any(
        type(inner) is ir.Binary and inner.op in _DEAR and _is_power(inner.right)
        for inner in walk_expr(expr)
    )
