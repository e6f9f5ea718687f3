"""Interchange of grid-stride loops with the lane loop.

    for lane: for k in gid.x..n step s: body(k)
becomes
    for r in 0..trips(first lane): for lane if lane < n - r * s: body(first + r * s + lane)

Neighbouring lanes read neighbouring elements in each iteration, and each lane strides through all
of memory. Interchanged, a row of lanes reads whole cache lines. The loop has as many iterations as
the first lane, which has the most; `r` being less than that, `r * s` is less than the bound, and a
lane has iteration `r` exactly if its position is less than what is left.

Ranges of `i32` are ranges of `u32` where ids, stop and the last step are below 2**31; that is asked
at the start of the loop, and the original loop runs where it is not so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.analysis.types import variable_types
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.counted_ranges import (
    SignedRange,
    signed_range,
    unsigned_range,
)
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.rewrites.workgroup_loops import map_workgroup_loops
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import (
    declared_names,
    fixed_values,
    reads_any,
    rebuilt,
    rewrite_expr,
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
_NO_I32 = 1 << 31
"""The least `u32` that is no `i32`."""


@vyre_pass(name="grid_stride_loops", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class GridStrideLoops(CpuPass):
    """Interchanges loops that stride over the grid with the loop over lanes.

    Legal when the loop starts at an id plus a uniform base, its stop and step are uniform, and its
    body has no break, continue or return and at most two loop-carried variables. Profitable for
    rows of 64 lanes and more, whose accesses become contiguous.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip short rows, and programs without loops or with returns."""
        size = program.workgroup_size
        if size[0] < heuristics.MIN_GRID_STRIDE_LANES or size[1] * size[2] > 1:
            return PassAnalysis.skip(f"no row of {heuristics.MIN_GRID_STRIDE_LANES} lanes")
        kinds = NodeKinds.of(program)
        if kinds.have(ir.Return):
            # Lanes that have returned leave gaps in every later row.
            return PassAnalysis.skip("invocations return early")
        return PassAnalysis.RUN if kinds.have(ir.Loop, ir.While) else PassAnalysis.skip("no loop")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with such loops interchanged; the facts name their trip counts."""
        rewriter = _Rewriter(program)
        changed = program.with_rewritten_entry(map_workgroup_loops(program.entry, rewriter.change))
        if changed is program:
            return program
        context.facts.trip_counts = frozenset(rewriter.counts)
        return with_unique_names(changed)


@dataclass(frozen=True, slots=True)
class _Stride:
    """A loop over `start`, `start + step`, … below `stop`."""

    start: ir.Builtin
    stop: ir.AnyExpr
    step: ir.AnyExpr
    base: ir.AnyExpr | None = None
    """A uniform offset of the start, such as a row's first element."""


class _Rewriter:
    def __init__(self, program: ir.Program) -> None:
        self._shapes = Divergence(program, program.entry, (0, 1, 2), over_time=True)
        buffers = {decl.name: decl for decl in program.buffers}
        self._types = TypeEnv(buffers, variable_types(program))
        self._size = program.workgroup_size[0]
        self.counts: list[str] = []
        """Names of variables that hold trip counts."""
        self._names = Names(program)
        self._values = fixed_values(program.entry)

    def change(self, loop: ir.Loop | ir.While, body: ir.Body, place: int) -> list[ir.AnyStmt]:
        """The statements that replace a loop."""
        return self._loop(loop) if isinstance(loop, ir.Loop) else self._while(loop, body, place)

    # Loops that count ----------------------------------------------------------------------------

    def _loop(self, loop: ir.Loop) -> list[ir.AnyStmt]:
        written = self._named(loop.stop)
        found = self._stride_of(loop.start, written)
        if found is None:
            signed = signed_range(written, self._named) if loop.start == _ZERO else None
            return [loop] if signed is None else self._from_signed(loop, signed)
        if not self._is_movable(loop.body, None):
            return [loop]
        if found.base is not None:
            return self._from_base(loop, written, found, found.base)
        first = self._first(found.start)
        trip_count = self._count()
        stop = rewrite_expr(written, lambda e: first if self._named(e) == found.start else e)
        guarded = ir.If(_is_left(found, ir.Var(loop.var)), loop.body, ())
        changed = rebuilt(loop, {"stop": ir.Var(trip_count), "body": (guarded,)})
        return [ir.Let(trip_count, stop), changed]

    def _from_base(
        self, loop: ir.Loop, written: ir.AnyExpr, found: _Stride, base: ir.AnyExpr
    ) -> list[ir.AnyStmt]:
        """Versioned on `base` + lane not wrapping; if it wraps, the original loop runs.

        If it does not wrap, the first lane has the most iterations, as without a base.
        """
        if sum(1 for _ in walk_stmts(loop.body)) > heuristics.MAX_GRID_STRIDE_STATEMENTS:
            return [loop]
        begin, safe, trip_count = (
            self._names.fresh("base"),
            self._names.fresh("safe"),
            self._count(),
        )
        fits = ir.Binary(ir.BinOp.LE, base, ir.Expr.u32((1 << 32) - self._size))

        def at_first(expr: ir.AnyExpr) -> ir.AnyExpr:
            made = self._named(expr)
            is_start = isinstance(made, ir.Binary) and _offset(made, self._named) == (
                found.start,
                base,
            )
            return ir.Var(begin) if is_start else expr

        count = ir.Select(ir.Var(safe), rewrite_expr(written, at_first), _ZERO)
        ends = _Stride(found.start, ir.Binary(ir.BinOp.SUB, found.stop, ir.Var(begin)), found.step)
        guarded = ir.If(_is_left(ends, ir.Var(loop.var)), loop.body, ())
        return [
            ir.Let(begin, base),
            ir.Let(safe, fits),
            ir.Let(trip_count, count),
            rebuilt(loop, {"stop": ir.Var(trip_count), "body": (guarded,)}),
            ir.If(ir.Unary(ir.UnOp.NOT, ir.Var(safe)), (loop,), ()),
        ]

    def _from_signed(self, loop: ir.Loop, found: SignedRange) -> list[ir.AnyStmt]:
        """Versioned on the range being one of `u32`; if it is not, the original loop runs."""
        if sum(1 for _ in walk_stmts(loop.body)) > heuristics.MAX_GRID_STRIDE_STATEMENTS:
            return [loop]
        fixed = (found.stop, found.divisor)
        if not all(map(self._is_fixed, fixed)) or not self._is_movable(loop.body, None):
            return [loop]
        safe, trip_count = self._names.fresh("safe"), self._count()
        end = ir.Let(self._names.fresh("end"), _unsigned(found.stop))
        conditions = [self._has_small_ids(found.start)]
        if found.is_up is not None:
            conditions.append(found.is_up)
        ends = _Stride(found.start, ir.Var(end.name), found.divisor)
        gone = ir.Binary(ir.BinOp.MUL, ir.Var(loop.var), found.divisor)
        value = ir.Cast(ir.Binary(ir.BinOp.ADD, found.start, gone), ir.DataType.I32)

        def as_unsigned(expr: ir.AnyExpr) -> ir.AnyExpr:
            return value if found.is_value(expr, loop.var, self._named) else expr

        body = rewrite_exprs(loop.body, as_unsigned)
        guarded = ir.If(_is_left(ends, ir.Var(loop.var)), body, ())
        return [
            end,
            ir.Let(safe, _all(conditions)),
            ir.Let(trip_count, self._trips(ends, safe)),
            rebuilt(loop, {"stop": ir.Var(trip_count), "body": (guarded,)}),
            ir.If(ir.Unary(ir.UnOp.NOT, ir.Var(safe)), (loop,), ()),
        ]

    def _has_small_ids(self, start: ir.Builtin) -> ir.AnyExpr:
        """The condition that all ids of a launch are numbers of `i32`."""
        if start.kind is ir.BuiltinKind.LOCAL_ID:
            return ir.Expr.bool_(True)
        groups = ir.Builtin(ir.BuiltinKind.NUM_WORKGROUPS, 0)
        return ir.Binary(ir.BinOp.LE, groups, ir.Expr.u32(_NO_I32 // self._size))

    def _trips(self, found: _Stride, safe: str) -> ir.AnyExpr:
        """The first lane's trip count; 0 if the loop is not safe."""
        start = self._first(found.start)
        some = ir.Binary(ir.BinOp.AND, ir.Var(safe), ir.Binary(ir.BinOp.LT, start, found.stop))
        left = ir.Binary(ir.BinOp.SUB, ir.Binary(ir.BinOp.SUB, found.stop, start), _ONE)
        count = ir.Binary(ir.BinOp.ADD, ir.Binary(ir.BinOp.DIV, left, found.step), _ONE)
        return ir.Select(some, count, _ZERO)

    def _named(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """The expression behind a name: loops over the same range share a trip count."""
        while isinstance(expr, ir.Var) and expr.name in self._values:
            expr = self._values[expr.name]
        return expr

    def _stride_of(self, begin: ir.AnyExpr, trip_count: ir.AnyExpr) -> _Stride | None:
        """The stride of a trip count in the form that `range` computes."""
        if not isinstance(begin, ir.Lit) or begin.bits:
            return None
        ends = unsigned_range(trip_count)
        return None if ends is None else self._made(*ends)

    def _made(self, start: ir.AnyExpr, stop: ir.AnyExpr, step: ir.AnyExpr) -> _Stride | None:
        start, base = self._named(start), None
        if isinstance(start, ir.Binary):
            found = _offset(start, self._named)
            if found is None or not self._is_fixed(found[1]):
                return None
            start, base = found
        if not isinstance(start, ir.Builtin) or start.axis:
            return None
        if start.kind not in (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID):
            return None
        if not self._is_fixed(stop) or not self._is_fixed(step):
            return None
        if not all(type_of(e, self._types) is ir.DataType.U32 for e in (stop, step)):
            return None
        return _Stride(start, stop, step, base)

    def _is_fixed(self, expr: ir.AnyExpr) -> bool:
        """True if a value is uniform and loop-invariant."""
        return not (reads_any(expr, self._shapes.assigned) or self._shapes.is_varying(expr))

    def _first(self, start: ir.Builtin) -> ir.AnyExpr:
        """The start of the workgroup's first lane, the least of all."""
        if start.kind is ir.BuiltinKind.LOCAL_ID:
            return _ZERO
        group = ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0)
        return ir.Binary(ir.BinOp.MUL, group, ir.Expr.u32(self._size))

    # Loops with a condition ----------------------------------------------------------------------

    def _while(self, loop: ir.While, body: ir.Body, place: int) -> list[ir.AnyStmt]:
        """Versioned on the counter not wrapping; if it may wrap, the original loop runs."""
        match loop.cond:
            case ir.Binary(ir.BinOp.LT, counter, stop) | ir.Binary(ir.BinOp.GT, stop, counter):
                pass
            case _:
                return [loop]
        match counter:
            case ir.Var(name) | ir.Cast(ir.Var(name), ir.DataType.I32):
                pass
            case _:
                return [loop]
        bound = next((s for s in body[:place] if isinstance(s, ir.Let) and s.name == name), None)
        if bound is None or not self._is_own(name, loop, body):
            return [loop]
        *rest, last = loop.body
        match last:
            case ir.Assign(_, ir.Binary(ir.BinOp.ADD, ir.Var(moved), step)) if (
                moved == name == last.name
            ):
                pass
            case _:
                return [loop]
        is_signed = isinstance(counter, ir.Cast)
        found = self._made(bound.value, step if is_signed else stop, step)
        if found is None or found.base is not None or not self._is_movable(tuple(rest), name):
            return [loop]
        if not is_signed:
            return self._both(loop, bound, tuple(rest), found, [])
        if not self._is_fixed(stop):
            return [loop]
        end = ir.Let(self._names.fresh("end"), _unsigned(stop))
        found = _Stride(found.start, ir.Var(end.name), step)
        room = ir.Binary(ir.BinOp.SUB, ir.Expr.u32(_NO_I32), found.stop)
        fits = [self._has_small_ids(found.start), ir.Binary(ir.BinOp.LE, step, room)]
        return [end, *self._both(loop, bound, tuple(rest), found, fits)]

    def _is_own(self, name: str, loop: ir.While, body: ir.Body) -> bool:
        """True if a variable is bound before a loop and otherwise unused."""
        changes = [s for s in walk_stmts(body) if isinstance(s, ir.Assign) and s.name == name]
        inside = sum(_mentions(s, name) for s in walk_stmts((loop,)))
        return len(changes) == 1 and inside == sum(_mentions(s, name) for s in walk_stmts(body))

    def _both(
        self,
        loop: ir.While,
        bound: ir.Let,
        body: ir.Body,
        found: _Stride,
        conditions: list[ir.AnyExpr],
    ) -> list[ir.AnyStmt]:
        counter, trip_count = self._names.fresh("iteration"), self._count()
        safe, shown = self._names.fresh("safe"), self._names.fresh(bound.name)
        step = found.step
        moves = ir.Binary(ir.BinOp.NE, step, _ZERO)
        fits = ir.Binary(ir.BinOp.LE, found.stop, ir.Binary(ir.BinOp.SUB, _ZERO, step))
        place = ir.Binary(ir.BinOp.ADD, found.start, ir.Binary(ir.BinOp.MUL, ir.Var(counter), step))

        def renamed(expr: ir.AnyExpr) -> ir.AnyExpr:
            return ir.Var(shown) if expr == ir.Var(bound.name) else expr

        inner = (ir.Let(shown, place), *rewrite_exprs(body, renamed))
        guarded = ir.If(_is_left(found, ir.Var(counter)), inner, ())
        again = self._names.fresh(bound.name)

        def once_more(expr: ir.AnyExpr) -> ir.AnyExpr:
            return ir.Var(again) if expr == ir.Var(bound.name) else expr

        as_written = rewrite_exprs((rebuilt(loop, {"body": body}),), once_more)[0]
        assert isinstance(as_written, ir.While)
        moved = ir.Assign(again, ir.Binary(ir.BinOp.ADD, ir.Var(again), step))
        as_written = rebuilt(as_written, {"body": (*as_written.body, moved)})
        return [
            ir.Let(safe, _all([moves, fits, *conditions])),
            ir.Let(trip_count, self._trips(found, safe)),
            ir.Loop(counter, _ZERO, ir.Var(trip_count), (guarded,)),
            ir.If(
                ir.Unary(ir.UnOp.NOT, ir.Var(safe)), (ir.Let(again, found.start), as_written), ()
            ),
        ]

    # What may be moved ---------------------------------------------------------------------------

    def _is_movable(self, body: ir.Body, counter: str | None) -> bool:
        """True if the loops interchange: no early exits and few loop-carried variables."""
        own = declared_names(body)
        changed: set[str] = set()
        for statement in walk_stmts(body):
            if isinstance(statement, (ir.Break, ir.Continue, ir.Return)):
                return False
            if isinstance(statement, ir.Assign) and statement.name not in own:
                changed.add(statement.name)
        return counter not in changed and len(changed) <= heuristics.MAX_GRID_STRIDE_VARIABLES

    def _count(self) -> str:
        self.counts.append(self._names.fresh("trips"))
        return self.counts[-1]


def _offset(
    start: ir.Binary, named: Callable[[ir.AnyExpr], ir.AnyExpr]
) -> tuple[ir.Builtin, ir.AnyExpr] | None:
    """The lane's id in the workgroup and the base added to it."""
    if start.op is not ir.BinOp.ADD:
        return None
    for place, base in ((start.right, start.left), (start.left, start.right)):
        made = named(place)
        if isinstance(made, ir.Builtin) and made.kind is ir.BuiltinKind.LOCAL_ID:
            return made, base
    return None


def _unsigned(stop: ir.AnyExpr) -> ir.AnyExpr:
    """The end of a range of `i32` as a `u32`: 0 if no id is below it."""
    least = ir.Binary(ir.BinOp.MAX, stop, ir.Expr.i32(0))
    return ir.Cast(least, ir.DataType.U32)


def _all(conditions: Sequence[ir.AnyExpr]) -> ir.AnyExpr:
    """The conjunction of conditions."""
    found, *rest = conditions
    for each in rest:
        found = ir.Binary(ir.BinOp.AND, found, each)
    return found


def _is_left(found: _Stride, counter: ir.AnyExpr) -> ir.AnyExpr:
    """The condition that a lane is active in the first lane's iteration."""
    gone = ir.Binary(ir.BinOp.MUL, counter, found.step)
    return ir.Binary(ir.BinOp.LT, found.start, ir.Binary(ir.BinOp.SUB, found.stop, gone))


def _mentions(statement: ir.AnyStmt, name: str) -> int:
    """How often a statement itself reads a variable."""
    nodes = (node for node in walk_own_exprs(statement))
    return sum(isinstance(node, ir.Var) and node.name == name for node in nodes)
