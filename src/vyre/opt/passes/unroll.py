"""Short loops, written out."""

from __future__ import annotations

from vyre import ir
from vyre.analysis import scalarisable_arrays
from vyre.ir.walk import map_bodies, map_exprs, walk_all_exprs, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.rewrite.bodies import Change, edited, jumps, size_of
from vyre.rewrite.literal_legality import Buffers, lawful_statement
from vyre.rewrite.substitute import substituted

MOST_ROUNDS = 8
MOST_STATEMENTS = 16
"""Rounds, and statements after unrolling, that are still worth it."""
MOST_ROUNDS_TAKEN_APART = 16
MOST_STATEMENTS_TAKEN_APART = 72
"""The same where the rounds count two axes at once, as in `k // 3` and `k % 3`: written out, these
are literals and an index is a sum again; otherwise its range is unknown."""
_TAKEN_APART = frozenset({ir.BinOp.DIV, ir.BinOp.REM, ir.BinOp.SHR, ir.BinOp.AND})
LARGE_PROGRAM = 300
"""Statements up to which a program may grow that is not known to be hot: writing out the loops of
a large one doubles what it takes to compile, before it is known whether that pays."""


@vyre_pass(name="unroll", phase=PassPhase.LOOP, family=CostModelFamily.LOOP, invalidates=("facts",))
class Unroll(Pass):
    """Writes out loops of a few rounds, with literals in the place of the loop variable.
    Legal when both bounds are literals and no break or continue belongs to the loop; each round
    keeps a scope of its own, so no name leaks or collides. Loops around a grid sync stay.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Run when there is a loop."""
        found = any(type(s) is ir.Loop for s in walk_stmts(program.entry))
        if found:
            return PassAnalysis.RUN
        return PassAnalysis.skip("there is no loop over numbers")

    def transform(self, program: ir.Program, context: PassContext) -> PassResult:
        """Unroll inner loops first, and outer ones only if the result stays small."""
        size = sum(1 for _ in walk_stmts(program.entry))
        room = None if context.is_hot else LARGE_PROGRAM - size
        unroll = _Unroll(program, room)
        entry = unroll.body(program.entry)
        return PassResult(program.with_rewritten_entry(entry), unroll.rewrites, tuple(unroll.notes))


class _Unroll:
    def __init__(self, program: ir.Program, room: int | None) -> None:
        self.buffers: Buffers = {decl.name: decl for decl in program.buffers}
        self.dissolving = scalarisable_arrays.dissolving_arrays(program)
        """Private arrays that need no memory once the loops over them are gone."""
        self.room = room
        """Statements by which the program may still grow; None for as many as there are."""
        self.rewrites = 0
        self.notes: dict[str, None] = {}

    def body(self, body: ir.Body) -> ir.Body:
        return edited(body, self.statement)

    def statement(self, statement: ir.AnyStmt) -> Change:
        if not statement.body_fields:
            return statement
        new = map_bodies(statement, self.body)
        if type(new) is not ir.Loop:
            return new
        bounds = _literal_bounds(new)
        if bounds is None or not self._worth(new, *bounds):
            return new
        self.rewrites += 1
        dtype = new.start.dtype if type(new.start) is ir.Lit else None
        assert dtype is not None
        mask = (1 << (dtype.bits or 0)) - 1
        rounds = [ir.Lit(dtype, value & mask) for value in range(*bounds)]
        return [ir.Block(self._round(new, value)) for value in rounds]

    def _worth(self, loop: ir.Loop, start: int, stop: int) -> bool:
        rounds = stop - start
        most_rounds, most_statements = MOST_ROUNDS, MOST_STATEMENTS
        if _takes_apart(loop):
            most_rounds, most_statements = MOST_ROUNDS_TAKEN_APART, MOST_STATEMENTS_TAKEN_APART
        elif scalarisable_arrays.goes_through(loop, self.dissolving):
            most_rounds, most_statements = (
                scalarisable_arrays.MOST_ROUNDS,
                scalarisable_arrays.MOST_STATEMENTS,
            )
        if rounds < 2 or rounds > most_rounds:
            return False
        size = size_of(loop.body)
        if rounds * size > most_statements:
            self.notes[f"the loop over {loop.var} is too long to unroll"] = None
            return False
        if jumps(loop.body):
            self.notes[f"the loop over {loop.var} has a break or continue"] = None
            return False
        if any(
            type(s) is ir.Barrier and s.ordering is ir.MemoryOrdering.GRID_SYNC
            for s in walk_stmts(loop.body)
        ):
            return False
        return self._fits((rounds - 1) * size)

    def _fits(self, growth: int) -> bool:
        if self.room is None:
            return True
        if growth > self.room:
            self.notes["a large program keeps its loops unless it is hot"] = None
            return False
        self.room -= growth
        return True

    def _round(self, loop: ir.Loop, value: ir.Lit) -> ir.Body:
        def lookup(name: str) -> ir.AnyExpr | None:
            return value if name == loop.var else None

        def one(statement: ir.AnyStmt) -> Change:
            new = map_exprs(statement, lambda expr: substituted(expr, lookup, self.buffers))
            if new.body_fields:
                new = map_bodies(new, lambda body: edited(body, one))
            return new if new is statement else lawful_statement(new, statement, self.buffers)

        return edited(loop.body, one)


def _takes_apart(loop: ir.Loop) -> bool:
    counter = ir.Var(loop.var)
    return any(
        type(node) is ir.Binary
        and node.op in _TAKEN_APART
        and node.left == counter
        and type(node.right) is ir.Lit
        for node in walk_all_exprs(loop.body)
    )


def _literal_bounds(loop: ir.Loop) -> tuple[int, int] | None:
    if type(loop.start) is ir.Lit and type(loop.stop) is ir.Lit:
        return int(loop.start.value), int(loop.stop.value)
    return None
