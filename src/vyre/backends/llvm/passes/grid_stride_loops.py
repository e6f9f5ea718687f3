"""Interchange of grid-stride loops with the lane loop.

    for lane: for k in gid.x..n step s: body(k)
becomes
    for r in 0..trips(first lane): for lane if lane < n - r * s: body(first + r * s + lane)

Neighbouring lanes read neighbouring elements in each iteration, and each lane strides through all
of memory. Interchanged, a row of lanes reads whole cache lines. The loop has as many iterations as
the first lane, which has the most; `r` being less than that, `r * s` is less than the bound, and a
lane has iteration `r` exactly if its position is less than what is left.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre.analysis.types import variable_types
from vyre.backends.llvm.analysis.divergence import Shapes
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.rewrites.workgroup_loops import with_common_loops
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Binary,
    BinOp,
    Body,
    Break,
    Builtin,
    BuiltinKind,
    Continue,
    DataType,
    Expr,
    If,
    Let,
    Lit,
    Loop,
    Program,
    Return,
    Select,
    Unary,
    UnOp,
    Var,
    While,
)
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import expr_children, rebuilt, rewrite_expr, rewrite_exprs, walk_expr, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass
from vyre.rewrite.names import Names
from vyre.rewrite.unique_names import with_unique_names

FEWEST_LANES = 64
"""Lanes of a row that pay for the guard in each iteration."""
MOST_KEPT = 2
"""Loop-carried variables: between two iterations of a row they are in memory."""
MOST_WRITTEN_TWICE = 16
"""Statements of a loop that is emitted in its original form as well."""
_ZERO, _ONE = Expr.u32(0), Expr.u32(1)


@vyre_pass(name="grid_stride_loops", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class GridStrideLoops(CpuPass):
    """Interchanges loops that stride over the grid with the loop over lanes.

    Legal when the loop starts at an id plus a uniform base, its stop and step are uniform, and its
    body has no break, continue or return and at most two loop-carried variables. Profitable for
    rows of 64 lanes and more, whose accesses become contiguous.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Skip short rows, and programs without loops or with returns."""
        size = program.workgroup_size
        if size[0] < FEWEST_LANES or size[1] * size[2] > 1:
            return PassAnalysis.skip(f"no row of {FEWEST_LANES} lanes")
        kinds = {type(s) for s in walk_stmts(program.entry)}
        if Return in kinds:
            # Lanes that return leave gaps in every row that follows.
            return PassAnalysis.skip("invocations return early")
        return PassAnalysis.RUN if kinds & {Loop, While} else PassAnalysis.skip("no loop")

    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The program with such loops interchanged, and the names of their trip counts."""
        rewriter = _Rewriter(program)
        changed = program.with_rewritten_entry(with_common_loops(program.entry, rewriter.change))
        if changed is program:
            return program
        context.facts.trip_counts = frozenset(rewriter.counts)
        return with_unique_names(changed)


@dataclass(frozen=True, slots=True)
class _Stride:
    """A loop over `start`, `start + step`, … as long as that is less than `stop`."""

    start: Builtin
    stop: AnyExpr
    step: AnyExpr
    base: AnyExpr | None = None
    """What is added to the start: as in the elements of a row, shared by a workgroup."""


class _Rewriter:
    def __init__(self, program: Program) -> None:
        self._shapes = Shapes(program, program.entry, (0, 1, 2), over_time=True)
        buffers = {decl.name: decl for decl in program.buffers}
        self._types = TypeEnv(buffers, variable_types(program))
        self._size = program.workgroup_size[0]
        self.counts: list[str] = []
        """Names of numbers of rounds."""
        self._names = Names(program)
        self._values = {
            s.name: s.value
            for s in walk_stmts(program.entry)
            if isinstance(s, Let) and s.name not in self._shapes.assigned
        }

    def change(self, loop: Loop | While, body: Body, place: int) -> list[AnyStmt]:
        """What becomes of a loop."""
        return self._loop(loop) if isinstance(loop, Loop) else self._while(loop, body, place)

    # Loops that count ----------------------------------------------------------------------------

    def _loop(self, loop: Loop) -> list[AnyStmt]:
        written = self._named(loop.stop)
        found = self._stride_of(loop.start, written)
        if found is None or not self._is_movable(loop.body, None):
            return [loop]
        if found.base is not None:
            return self._from_base(loop, written, found, found.base)
        first = self._first(found.start)
        rounds = self._count()
        stop = rewrite_expr(written, lambda e: first if self._named(e) == found.start else e)
        guarded = If(_is_left(found, Var(loop.var)), loop.body, ())
        return [Let(rounds, stop), rebuilt(loop, {"stop": Var(rounds), "body": (guarded,)})]

    def _from_base(
        self, loop: Loop, written: AnyExpr, found: _Stride, base: AnyExpr
    ) -> list[AnyStmt]:
        """Unless lanes begin on both sides of the end of all numbers: then it is run as it stands.

        Elsewhere the first lane has the most rounds, here as well.
        """
        if sum(1 for _ in walk_stmts(loop.body)) > MOST_WRITTEN_TWICE:
            return [loop]
        begin, safe, rounds = self._names.fresh("base"), self._names.fresh("safe"), self._count()
        fits = Binary(BinOp.LE, base, Expr.u32((1 << 32) - self._size))

        def at_first(expr: AnyExpr) -> AnyExpr:
            made = self._named(expr)
            is_start = isinstance(made, Binary) and _offset(made, self._named) == (
                found.start,
                base,
            )
            return Var(begin) if is_start else expr

        count = Select(Var(safe), rewrite_expr(written, at_first), _ZERO)
        ends = _Stride(found.start, Binary(BinOp.SUB, found.stop, Var(begin)), found.step)
        guarded = If(_is_left(ends, Var(loop.var)), loop.body, ())
        return [
            Let(begin, base),
            Let(safe, fits),
            Let(rounds, count),
            rebuilt(loop, {"stop": Var(rounds), "body": (guarded,)}),
            If(Unary(UnOp.NOT, Var(safe)), (loop,), ()),
        ]

    def _named(self, expr: AnyExpr) -> AnyExpr:
        """What a name stands for: two loops over the same numbers share how many there are."""
        while isinstance(expr, Var) and expr.name in self._values:
            expr = self._values[expr.name]
        return expr

    def _stride_of(self, begin: AnyExpr, rounds: AnyExpr) -> _Stride | None:
        """The stride behind a number of rounds, as `range` counts them."""
        match rounds:
            case Select(cond, Binary(BinOp.ADD, quotient, Lit(_, 1)), Lit(_, 0)):
                pass
            case _:
                return None
        if not isinstance(begin, Lit) or begin.bits:
            return None
        match quotient:
            case Binary(BinOp.DIV, distance, step):
                pass
            case Binary(BinOp.SHR, distance, Lit(DataType.U32, amount)):
                step = Expr.u32(1 << (amount & 31))
            case _:
                return None
        match distance:
            case Binary(BinOp.SUB, Binary(BinOp.SUB, stop, start), Lit(_, 1)):
                pass
            case _:
                return None
        found = self._made(start, stop, step)
        return found if found is not None and _conditions_fit(cond, start, stop, step) else None

    def _made(self, start: AnyExpr, stop: AnyExpr, step: AnyExpr) -> _Stride | None:
        start, base = self._named(start), None
        if isinstance(start, Binary):
            found = _offset(start, self._named)
            if found is None or not self._is_fixed(found[1]):
                return None
            start, base = found
        if not isinstance(start, Builtin) or start.axis:
            return None
        if start.kind not in (BuiltinKind.GLOBAL_ID, BuiltinKind.LOCAL_ID):
            return None
        if not self._is_fixed(stop) or not self._is_fixed(step):
            return None
        if not all(type_of(e, self._types) is DataType.U32 for e in (stop, step)):
            return None
        return _Stride(start, stop, step, base)

    def _is_fixed(self, expr: AnyExpr) -> bool:
        """Whether a value is the same for all lanes at all times."""
        changes = (isinstance(n, Var) and n.name in self._shapes.assigned for n in walk_expr(expr))
        return not any(changes) and not self._shapes.is_varying(expr)

    def _first(self, start: Builtin) -> AnyExpr:
        """Where the first lane of the workgroup begins; no lane begins before it."""
        if start.kind is BuiltinKind.LOCAL_ID:
            return _ZERO
        group = Builtin(BuiltinKind.WORKGROUP_ID, 0)
        return Binary(BinOp.MUL, group, Expr.u32(self._size))

    # Loops with a condition ----------------------------------------------------------------------

    def _while(self, loop: While, body: Body, place: int) -> list[AnyStmt]:
        """Unless the counter may wrap around: then the loop is run as it stands."""
        match loop.cond:
            case Binary(BinOp.LT, Var(name), stop) | Binary(BinOp.GT, stop, Var(name)):
                pass
            case _:
                return [loop]
        bound = next((s for s in body[:place] if isinstance(s, Let) and s.name == name), None)
        if bound is None or not self._is_own(name, loop, body):
            return [loop]
        *rest, last = loop.body
        match last:
            case Assign(_, Binary(BinOp.ADD, Var(moved), step)) if moved == name == last.name:
                pass
            case _:
                return [loop]
        found = self._made(bound.value, stop, step)
        if found is None or found.base is not None or not self._is_movable(tuple(rest), name):
            return [loop]
        return self._both(loop, bound, tuple(rest), found)

    def _is_own(self, name: str, loop: While, body: Body) -> bool:
        """Whether a variable is bound before a loop and used nowhere else."""
        changes = [s for s in walk_stmts(body) if isinstance(s, Assign) and s.name == name]
        inside = sum(_mentions(s, name) for s in walk_stmts((loop,)))
        return len(changes) == 1 and inside == sum(_mentions(s, name) for s in walk_stmts(body))

    def _both(self, loop: While, bound: Let, body: Body, found: _Stride) -> list[AnyStmt]:
        counter, rounds = self._names.fresh("round"), self._count()
        safe, shown = self._names.fresh("safe"), self._names.fresh(bound.name)
        start, stop, step = self._first(found.start), found.stop, found.step
        moves = Binary(BinOp.NE, step, _ZERO)
        fits = Binary(BinOp.LE, stop, Binary(BinOp.SUB, _ZERO, step))
        some = Binary(BinOp.AND, Var(safe), Binary(BinOp.LT, start, stop))
        left = Binary(BinOp.SUB, Binary(BinOp.SUB, stop, start), _ONE)
        count = Binary(BinOp.ADD, Binary(BinOp.DIV, left, step), _ONE)
        place = Binary(BinOp.ADD, found.start, Binary(BinOp.MUL, Var(counter), step))

        def renamed(expr: AnyExpr) -> AnyExpr:
            return Var(shown) if expr == Var(bound.name) else expr

        inner = (Let(shown, place), *rewrite_exprs(body, renamed))
        guarded = If(_is_left(found, Var(counter)), inner, ())
        again = self._names.fresh(bound.name)

        def once_more(expr: AnyExpr) -> AnyExpr:
            return Var(again) if expr == Var(bound.name) else expr

        as_written = rewrite_exprs((rebuilt(loop, {"body": body}),), once_more)[0]
        assert isinstance(as_written, While)
        moved = Assign(again, Binary(BinOp.ADD, Var(again), step))
        as_written = rebuilt(as_written, {"body": (*as_written.body, moved)})
        return [
            Let(safe, Binary(BinOp.AND, moves, fits)),
            Let(rounds, Select(some, count, _ZERO)),
            Loop(counter, _ZERO, Var(rounds), (guarded,)),
            If(Unary(UnOp.NOT, Var(safe)), (Let(again, found.start), as_written), ()),
        ]

    # What may be moved ---------------------------------------------------------------------------

    def _is_movable(self, body: Body, counter: str | None) -> bool:
        """Whether lanes may take turns: they stay to the end, and keep little in between."""
        own = {s.name for s in walk_stmts(body) if isinstance(s, Let)}
        changed: set[str] = set()
        for statement in walk_stmts(body):
            if isinstance(statement, (Break, Continue, Return)):
                return False
            if isinstance(statement, Assign) and statement.name not in own:
                changed.add(statement.name)
        return counter not in changed and len(changed) <= MOST_KEPT

    def _count(self) -> str:
        self.counts.append(self._names.fresh("rounds"))
        return self.counts[-1]


def _offset(start: Binary, named: Callable[[AnyExpr], AnyExpr]) -> tuple[Builtin, AnyExpr] | None:
    """A lane's place in the workgroup and what is added to it."""
    if start.op is not BinOp.ADD:
        return None
    for place, base in ((start.right, start.left), (start.left, start.right)):
        made = named(place)
        if isinstance(made, Builtin) and made.kind is BuiltinKind.LOCAL_ID:
            return made, base
    return None


def _is_left(found: _Stride, counter: AnyExpr) -> AnyExpr:
    """Whether a lane has the round with a number that the first lane has."""
    gone = Binary(BinOp.MUL, counter, found.step)
    return Binary(BinOp.LT, found.start, Binary(BinOp.SUB, found.stop, gone))


def _mentions(statement: AnyStmt, name: str) -> int:
    """How often a statement itself reads a variable."""
    nodes = (node for child in expr_children(statement) for node in walk_expr(child))
    return sum(isinstance(node, Var) and node.name == name for node in nodes)


def _conditions_fit(cond: AnyExpr, start: AnyExpr, stop: AnyExpr, step: AnyExpr) -> bool:
    """Whether there are rounds exactly where the start is less than the stop and moves."""
    below = (Binary(BinOp.LT, start, stop), Binary(BinOp.GT, stop, start))
    moves = (Binary(BinOp.NE, step, _ZERO), Binary(BinOp.GT, step, _ZERO))
    if isinstance(step, Lit) and step.bits:
        return cond in below
    match cond:
        case Binary(BinOp.AND, one, other):
            return (one in moves and other in below) or (other in moves and one in below)
        case _:
            return False
