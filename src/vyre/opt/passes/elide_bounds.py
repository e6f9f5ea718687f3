"""What integer ranges decide: checks written by hand, clamps, and accesses proven in bounds."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Interval, ProgramFacts, Ranges
from vyre.ir.opcodes import Result
from vyre.ir.walk import map_bodies, map_exprs
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited
from vyre.rewrite.effects import has_effects
from vyre.rewrite.literal_legality import lawful, lawful_statement


@vyre_pass(name="elide_bounds", phase=PassPhase.CONTROL_FLOW, invalidates=("ranges",))
class ElideBounds(Pass):
    """Replaces comparisons, clamps, masks and remainders that cannot matter, and tells how many
    accesses are proven in bounds: backends ask the same ranges and emit no check for those.
    Legal where ranges hold for every launch of the program and decide the result; what is dropped
    has no effects.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when anything is compared, clamped or accessed."""
        if ProgramFacts.of(program).buffer_refs:
            return PassAnalysis.RUN
        return PassAnalysis.skip("no memory is accessed")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Ask the ranges about every operation that bounds something."""
        elide = _Elide(program)
        entry = elide.body(program.entry)
        remaining = elide.ranges.unproven
        total = sum(ref.use.value in _ACCESSES for ref in ProgramFacts.of(program).buffer_refs)
        note = f"{total - remaining} of {total} accesses are proven in bounds"
        return PassResult(program.with_rewritten_entry(entry), elide.rewrites, (note,))


_ACCESSES = ("read", "write", "atomic")


class _Elide:
    def __init__(self, program: ir.Program) -> None:
        self.ranges = Ranges.of(program)
        self.buffers = {decl.name: decl for decl in program.buffers}
        self.position = -1
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        self.position += 1
        new = map_exprs(statement, self.expr)
        if new is not statement:
            lawful_one = lawful_statement(new, statement, self.buffers)
            if lawful_one is None:
                return None
            new = lawful_one
        return map_bodies(new, self.body) if new.body_fields else new

    def expr(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        if expr.depth == 1:
            return expr
        if type(expr) is ir.Binary:
            better = self._binary(expr)
            if better is not None:
                self.rewrites += 1
                return better if better.depth == 1 else self.expr(better)
        new = map_exprs(expr, self.expr)
        return new if new is expr else lawful(new, expr, self.buffers)

    def _binary(self, expr: ir.Binary) -> ir.AnyExpr | None:
        if expr.op.row.result is Result.BOOL:
            holds = self.ranges.decided(expr, self.position)
            if holds is None or has_effects(expr):
                return None
            return ir.Lit(ir.DataType.BOOL, int(holds))
        if expr.op not in _BOUNDING:
            return None
        left, right = self._interval(expr.left), self._interval(expr.right)
        if left is None or right is None:
            return None
        kept = _kept(expr, left, right)
        if kept is None:
            return None
        dropped = expr.right if kept is expr.left else expr.left
        return None if has_effects(dropped) else kept

    def _interval(self, expr: ir.AnyExpr) -> Interval | None:
        if type(expr) is ir.Lit:
            if expr.dtype.is_float:
                return None
            return Interval(int(expr.value), int(expr.value))
        return self.ranges.interval(expr, self.position)


_BOUNDING = frozenset({ir.BinOp.MIN, ir.BinOp.MAX, ir.BinOp.AND, ir.BinOp.REM})


def _kept(expr: ir.Binary, left: Interval, right: Interval) -> ir.AnyExpr | None:
    """The operand that is the result, whatever the values are."""
    match expr.op:
        case ir.BinOp.MIN:
            return (
                expr.left
                if left.high <= right.low
                else (expr.right if right.high <= left.low else None)
            )
        case ir.BinOp.MAX:
            return (
                expr.left
                if left.low >= right.high
                else (expr.right if right.low >= left.high else None)
            )
        case ir.BinOp.REM:
            return expr.left if left.low >= 0 and left.high < right.low else None
        case _:
            # A mask of ones from the lowest bit on keeps every number that it covers.
            mask = right.constant
            covers = mask is not None and mask & (mask + 1) == 0 and mask >= 0
            return expr.left if covers and left.low >= 0 and left.high <= (mask or 0) else None
