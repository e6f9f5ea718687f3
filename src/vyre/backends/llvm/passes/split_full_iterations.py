"""Index-set splitting: iterations in which every lane is active run without their guard.

    for k in 0..n: i = k * 256 + lane; if i < m: s += x[i]
becomes
    for k in 0..full: i = k * 256 + lane; s += x[i]
    for k in full..n: i = k * 256 + lane; if i < m: s += x[i]

Only the last iterations need the guard; how many do not is one division. Registers then hold the
accumulators of all lanes while the workgroup streams through memory; under the guard each iteration
would load and store them. Every lane adds in its original order.
"""

from __future__ import annotations

from vyre.analysis.types import variable_types
from vyre.backends.llvm.analysis.affine_coefficient import coefficient
from vyre.backends.llvm.analysis.divergence import Shapes
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.passes.unroll_grid_stride import sums_up
from vyre.backends.llvm.rewrites.workgroup_loops import with_common_loops
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Binary,
    BinOp,
    Body,
    Builtin,
    BuiltinKind,
    DataType,
    Expr,
    If,
    Let,
    Loop,
    Program,
    Select,
    Var,
    While,
)
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import rebuilt, rewrite_expr, walk_expr, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass
from vyre.rewrite.names import Names
from vyre.rewrite.unique_names import with_unique_names

_LANE = Builtin(BuiltinKind.LOCAL_ID, 0)
_ZERO, _ONE = Expr.u32(0), Expr.u32(1)


@vyre_pass(name="split_full_iterations", phase=PassPhase.LOWERING, family=CostModelFamily.LOOP)
class SplitFullIterations(CpuPass):
    """Splits a loop of the workgroup into full iterations and guarded ones.

    Legal when the guard is `first + k * size + lane < end` with uniform `first` and `end`.
    Profitable when the body is a short reduction whose accumulators fit half of the vector
    registers for all lanes.
    """

    def analyze(self, program: Program, context: PassContext) -> PassAnalysis:
        """Skip first code, workgroups of several rows, and programs without loops."""
        assert isinstance(context, CpuContext)
        if not context.thorough:
            return PassAnalysis.skip("first code is kept small")
        size = program.workgroup_size
        if size[1] * size[2] > 1:
            return PassAnalysis.skip("workgroups have several rows")
        if any(isinstance(s, Loop) for s in walk_stmts(program.entry)):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no loop")

    def rewrite(self, program: Program, context: CpuContext) -> Program:
        """The program with such loops split."""
        rewriter = _Rewriter(program, context.host)
        changed = program.with_rewritten_entry(with_common_loops(program.entry, rewriter.change))
        return program if changed is program else with_unique_names(changed)


@dataclass(frozen=True, slots=True)
class _Guard:
    """Lanes take part in a round as long as `first`, the step times the round and their place in
    the workgroup are less than `end` in all.
    """

    first: AnyExpr
    end: AnyExpr
    work: Body
    """The round, without the guard."""


class _Rewriter:
    def __init__(self, program: Program, host: Host) -> None:
        self._size = program.workgroup_size[0]
        self._host = host
        self._shapes = Shapes(program, program.entry, (0, 1, 2), over_time=True)
        self._variables = variable_types(program)
        buffers = {decl.name: decl for decl in program.buffers}
        self._types = TypeEnv(buffers, self._variables)
        self._names = Names(program)

    def change(self, loop: Loop | While, _body: Body, _place: int) -> list[AnyStmt]:
        """What becomes of a loop."""
        found = self._guard_of(loop) if isinstance(loop, Loop) else None
        if found is None or not sums_up(found.work) or not self._fits_registers(found.work):
            return [loop]
        assert isinstance(loop, Loop)
        whole = self._names.fresh("whole")
        return [
            Let(whole, Binary(BinOp.MIN, self._whole(found), loop.stop)),
            rebuilt(loop, {"stop": Var(whole), "body": found.work}),
            rebuilt(loop, {"start": Var(whole)}),
        ]

    def _guard_of(self, loop: Loop) -> _Guard | None:
        if loop.start != _ZERO or not self._is_fixed(loop.stop) or not loop.body:
            return None
        *lets, last = loop.body
        if not isinstance(last, If) or last.otherwise:
            return None
        values: dict[str, AnyExpr] = {}
        for statement in lets:
            if not isinstance(statement, Let):
                return None
            values[statement.name] = _written_out(statement.value, values)
        match _written_out(last.cond, values):
            case Binary(BinOp.LT, place, end) | Binary(BinOp.GT, end, place):
                pass
            case _:
                return None
        first = self._first(place, loop.var)
        if first is None or not self._is_fixed(end):
            return None
        return _Guard(first, end, (*lets, *last.then))

    def _first(self, place: AnyExpr, counter: str) -> AnyExpr | None:
        """The first lane's place in the first round, if rounds follow one another in memory."""
        if coefficient(place, Var(counter)) != self._size or coefficient(place, _LANE) != 1:
            return None

        def at_first(expr: AnyExpr) -> AnyExpr:
            return _ZERO if expr in (Var(counter), _LANE) else expr

        first = rewrite_expr(place, at_first)
        return first if self._is_fixed(first) else None

    def _is_fixed(self, expr: AnyExpr) -> bool:
        """Whether a `u32` value is the same for all lanes at all times, inside of loops as well."""
        for node in walk_expr(expr):
            if isinstance(node, Atomic):
                return False
            if isinstance(node, Var) and (
                node.name in self._shapes.assigned or node.name not in self._variables
            ):
                return False
        return not self._shapes.is_varying(expr) and type_of(expr, self._types) is DataType.U32

    def _whole(self, found: _Guard) -> AnyExpr:
        """How many rounds all lanes have; nothing wraps in these."""
        size = Expr.u32(self._size)
        room = Binary(BinOp.SUB, found.end, found.first)
        enough = Binary(
            BinOp.AND, Binary(BinOp.LT, found.first, found.end), Binary(BinOp.GE, room, size)
        )
        count = Binary(BinOp.DIV, Binary(BinOp.SUB, room, size), size)
        return Select(enough, Binary(BinOp.ADD, count, _ONE), _ZERO)

    def _fits_registers(self, work: Body) -> bool:
        """Whether half of the registers hold what all lanes keep from round to round."""
        own = {s.name for s in walk_stmts(work) if isinstance(s, Let)}
        kept = {s.name for s in walk_stmts(work) if isinstance(s, Assign)} - own
        size = sum(max(self._variables[name].size_bytes or 4, 4) for name in kept)
        host = self._host
        room = host.vector_registers // 2 * host.vector_bits // 8
        return size * self._size <= room


def _written_out(expr: AnyExpr, values: dict[str, AnyExpr]) -> AnyExpr:
    def value(node: AnyExpr) -> AnyExpr:
        return values.get(node.name, node) if isinstance(node, Var) else node

    return rewrite_expr(expr, value)


__all__ = ["SplitFullIterations"]
