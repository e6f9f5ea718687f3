"""Loops that run no round, or exactly one."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Interval, Ranges
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited, jumps
from vyre.rewrite.effects import has_effects
from vyre.rewrite.removable import Dropping


@vyre_pass(name="trip_zero", phase=PassPhase.CONTROL_FLOW, invalidates=("facts",))
class TripZero(Pass):
    """Removes loops that run no round, and unwraps those that run exactly one.
    Legal when literals or integer ranges prove the number of rounds; a loop of one round must have
    no break or continue of its own. Bounds with an atomic are still evaluated. What
    makes other statements valid, such as the start of an async copy, stays.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a loop."""
        found = any(type(s) is ir.Loop for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no loop over numbers")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Unwrap every loop whose number of rounds is known to be zero or one."""
        unwrap = _Unwrap(program)
        entry = unwrap.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), unwrap.rewrites)


class _Unwrap:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.dropping = Dropping(program)
        self.position = -1
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        self.position += 1
        position = self.position
        new = map_bodies(statement, self.body) if statement.body_fields else statement
        if type(statement) is not ir.Loop or type(new) is not ir.Loop:
            return new
        start = self._interval(statement.start, position)
        stop = self._interval(statement.stop, position)
        if start is None or stop is None:
            return new
        if start.low >= stop.high and self.dropping.allows(new.body):
            self.rewrites += 1
            return [ir.Eval(bound) for bound in (new.start, new.stop) if has_effects(bound)]
        once = start.constant is not None and stop.constant == start.constant + 1
        if once and not jumps(new.body) and not has_effects(new.stop):
            self.rewrites += 1
            return ir.Block((ir.Let(new.var, new.start), *new.body)).at(new.span)
        return new

    def _interval(self, bound: ir.AnyExpr, position: int) -> Interval | None:
        if type(bound) is ir.Lit:
            return Interval(int(bound.value), int(bound.value))
        # Ranges are dear: literals, by far the most common bounds, do not need them.
        return Ranges.of(self.program).interval(bound, position)
