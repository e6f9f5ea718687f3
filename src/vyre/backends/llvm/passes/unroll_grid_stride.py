"""Unrolling of interchanged grid-stride reductions by four.

    for k in 0..n: if lane < left(k): body(k)
becomes
    for q in 0..m: body(4q), body(4q + 1), body(4q + 2), body(4q + 3)
    for k in 4m..n: if lane < left(k): body(k)

where `m` is such that all lanes of the longest row have the last of those iterations. An iteration
of a row loads the accumulators of its lanes and stores them again; unrolled, that is done once for
four, and the machine fetches from four streams at a time. Every lane adds in its original order.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.rewrites.workgroup_loops import map_workgroup_loops
from vyre.ir.walk import (
    declared_names,
    rebuilt,
    rewrite_exprs,
    walk_own_exprs,
    walk_stmts,
)
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass
from vyre.rewrite.names import Names
from vyre.rewrite.unique_names import with_unique_names

_ZERO, _ONE = ir.Expr.u32(0), ir.Expr.u32(1)
_PLAIN = (ir.Let, ir.Assign, ir.Block, ir.Region)


@vyre_pass(
    name="unroll_grid_stride",
    phase=PassPhase.LOWERING,
    family=CostModelFamily.LOOP,
    requires=("grid_stride_loops",),
)
class UnrollGridStride(CpuPass):
    """Unrolls interchanged grid-stride reductions by four.

    Legal when the loop is one that grid_stride_loops made, and rows have at most 16 workgroups.
    Profitable when the body loads, accumulates and does little else: it waits for memory.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip first code, and programs without grid-stride loops."""
        assert isinstance(context, CpuContext)
        if not context.thorough:
            return PassAnalysis.skip("first code is kept small")
        counts = context.facts.trip_counts
        return PassAnalysis.RUN if counts else PassAnalysis.skip("no grid-stride loop")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with such loops unrolled; the facts bound its rows."""
        facts = context.facts
        rewriter = _Rewriter(program, facts.trip_counts)
        changed = program.with_rewritten_entry(rewriter.entry(program))
        if changed is program:
            return program
        facts.trip_counts |= frozenset(rewriter.counts)
        facts.outer_counters |= frozenset(rewriter.outside)
        facts.longest_row = program.workgroup_size[0] * heuristics.MAX_WORKGROUPS_PER_ROW
        return with_unique_names(changed)


@dataclass(frozen=True, slots=True)
class _GuardedLoop:
    """A loop in which lanes below the remaining count are active."""

    start: ir.Builtin
    stop: ir.AnyExpr
    step: ir.AnyExpr
    body: ir.Body


class _Rewriter:
    def __init__(self, program: ir.Program, counts: frozenset[str]) -> None:
        self._known = counts
        self._size = program.workgroup_size[0]
        self._names = Names(program)
        self.counts: list[str] = []
        self.outside: list[str] = []

    def entry(self, program: ir.Program) -> ir.Body:
        """The program's statements with loops rewritten."""
        return map_workgroup_loops(program.entry, self._loop)

    def _loop(self, loop: ir.Loop | ir.While, _body: ir.Body, _place: int) -> list[ir.AnyStmt]:
        if not isinstance(loop, ir.Loop):
            return [loop]
        found = self._guarded_loop(loop)
        if found is None or not sums_up(found.body):
            return [loop]
        whole, counter = self._names.fresh("whole"), self._names.fresh("fours")
        self.counts.append(whole)
        self.outside.append(counter)
        begin = ir.Binary(
            ir.BinOp.MUL, ir.Var(counter), ir.Expr.u32(heuristics.GRID_STRIDE_UNROLL_FACTOR)
        )
        unrolled = tuple(
            ir.Block(_with(found.body, loop.var, ir.Binary(ir.BinOp.ADD, begin, ir.Expr.u32(n))))
            for n in range(heuristics.GRID_STRIDE_UNROLL_FACTOR)
        )
        done = ir.Binary(
            ir.BinOp.MUL, ir.Var(whole), ir.Expr.u32(heuristics.GRID_STRIDE_UNROLL_FACTOR)
        )
        return [
            ir.Let(whole, self._whole(found, loop.stop)),
            ir.Loop(counter, _ZERO, ir.Var(whole), unrolled),
            rebuilt(loop, {"start": done}),
        ]

    def _guarded_loop(self, loop: ir.Loop) -> _GuardedLoop | None:
        if loop.start != _ZERO or not isinstance(loop.stop, ir.Var):
            return None
        if loop.stop.name not in self._known or len(loop.body) != 1:
            return None
        match loop.body[0]:
            case ir.If(
                ir.Binary(
                    ir.BinOp.LT,
                    ir.Builtin() as start,
                    ir.Binary(ir.BinOp.SUB, stop, ir.Binary(ir.BinOp.MUL, ir.Var(name), step)),
                ),
                body,
                (),
            ) if name == loop.var:
                return _GuardedLoop(start, stop, step, body)
            case _:
                return None

    def _whole(self, found: _GuardedLoop, trip_count: ir.AnyExpr) -> ir.AnyExpr:
        """The trip count of the unrolled loop: all lanes are active in all its iterations.

        If the first lane has an iteration, the step is nonzero and its index is below the stop.
        """
        first = _ZERO
        if found.start.kind is ir.BuiltinKind.GLOBAL_ID:
            first = ir.Binary(
                ir.BinOp.MUL, ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0), ir.Expr.u32(self._size)
            )
        row = ir.Expr.u32(self._size * heuristics.MAX_WORKGROUPS_PER_ROW)
        room = ir.Binary(ir.BinOp.SUB, found.stop, first)
        enough = ir.Binary(
            ir.BinOp.AND,
            ir.Binary(ir.BinOp.NE, trip_count, _ZERO),
            ir.Binary(ir.BinOp.GE, room, row),
        )
        left = ir.Binary(ir.BinOp.DIV, ir.Binary(ir.BinOp.SUB, room, row), found.step)
        full = ir.Binary(
            ir.BinOp.DIV,
            ir.Binary(ir.BinOp.ADD, left, _ONE),
            ir.Expr.u32(heuristics.GRID_STRIDE_UNROLL_FACTOR),
        )
        return ir.Select(enough, full, _ZERO)


def _with(body: ir.Body, name: str, value: ir.AnyExpr) -> ir.Body:
    return rewrite_exprs(body, lambda expr: value if expr == ir.Var(name) else expr)


def sums_up(body: ir.Body) -> bool:
    """True if the body is short, loads, and updates loop-carried variables."""
    own = declared_names(body)
    kept = loads = nodes = 0
    for statement in walk_stmts(body):
        if not isinstance(statement, _PLAIN):
            return False
        kept += isinstance(statement, ir.Assign) and statement.name not in own
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Atomic):
                return False
            nodes += 1
            loads += isinstance(node, ir.Load)
    return bool(kept and loads) and nodes <= heuristics.MAX_GRID_STRIDE_UNROLL_NODES
