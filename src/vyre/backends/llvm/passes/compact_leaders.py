"""Compaction of one lane in every few into the first lanes of the workgroup.

    if lid.x % 32 == 0: out[gid.x / 32] = bits[lid.x / 32]
becomes
    barrier
    if lid.x < 8: out[8 * wid.x + lid.x] = bits[lid.x]
    barrier

in a workgroup of 256. One lane of each subgroup writes what the subgroup has found; these leaders
are far apart, so that vectors would be empty but for one lane, or hold no lane at all. Compacted,
they are neighbours: a bound of the row replaces the test, and their elements are contiguous.
"""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis import is_movable
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.rewrites.unread_bindings import without_unread_bindings
from vyre.ir.walk import (
    assigned_names,
    expr_children,
    map_bodies,
    map_exprs,
    rewrite_expr,
    variables_of,
    walk_expr,
    walk_stmts,
)
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass

_LANE = ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0)
_GROUP = ir.Builtin(ir.BuiltinKind.WORKGROUP_ID, 0)
_BARRIER = ir.Barrier(ir.MemoryOrdering.SEQ_CST)
_MOVED = (ir.Let, ir.Assign, ir.Store, ir.Eval, ir.If, ir.Loop, ir.While, ir.Block, ir.Region)
"""Statements that mean the same for whichever lane executes them."""


@vyre_pass(name="compact_leaders", phase=PassPhase.LOWERING, family=CostModelFamily.SYNC)
class CompactLeaders(CpuPass):
    """Lets the first lanes of a workgroup do what every 32nd lane did.

    Legal when workgroups have one axis, and all lanes come to the guard together: a barrier stands
    before it among the same statements, and no lane leaves in between. What the guarded statements
    read is computed from ids, read-only memory and uniform variables, or was loaded since from
    memory that is not written in between. Barriers order the memory that they access. Profitable
    when at most one lane in eight is a leader.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without a barrier, or whose workgroups have several axes."""
        if program.workgroup_size[1:] != (1, 1):
            return PassAnalysis.skip("workgroups have several axes")
        found = NodeKinds.of(program).have(ir.Barrier)
        return PassAnalysis.RUN if found else PassAnalysis.skip("no barrier")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with leaders compacted."""
        entry = _Compaction(program).body(program.entry, {})
        if entry is program.entry:
            return program
        return program.with_rewritten_entry(without_unread_bindings(entry))


@dataclass(frozen=True, slots=True)
class _Leaders:
    stride: int
    rest: tuple[ir.AnyExpr, ...]
    """What else the guard demands."""


class _Compaction:
    def __init__(self, program: ir.Program) -> None:
        self._lanes = program.workgroup_size[0]
        self._assigned = assigned_names(program.entry)
        self._writable = {d.name for d in program.buffers if d.is_writable or d.is_on_chip}
        self._private = {d.name for d in program.buffers if d.is_local}

    def body(self, body: ir.Body, known: dict[str, ir.AnyExpr | None]) -> ir.Body:
        """Rewrite statements; `known` has the values of the variables in scope.

        None stands for a variable that is the same in the whole workgroup.
        """
        made: list[ir.AnyStmt] = []
        known = dict(known)
        together = False
        for statement in body:
            leaders = self._leaders(statement) if together else None
            moved = None if leaders is None else self._moved(statement, leaders, known)
            if moved is not None:
                made += [_BARRIER, moved, _BARRIER]
            else:
                made.append(self._inner(statement, known))
                together = self._are_together(statement, together)
            self._learn(statement, known)
        same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
        return body if same else tuple(made)

    def _inner(self, statement: ir.AnyStmt, known: dict[str, ir.AnyExpr | None]) -> ir.AnyStmt:
        if not any(isinstance(s, ir.Barrier) for s in walk_stmts((statement,))):
            return statement
        inside = dict(known)
        if isinstance(statement, ir.Loop):
            inside[statement.var] = None  # with a barrier in it, a loop counts for all lanes alike
        return map_bodies(statement, lambda inner: self.body(inner, inside))

    @staticmethod
    def _are_together(statement: ir.AnyStmt, before: bool) -> bool:
        """True if after a statement all lanes are at the same place."""
        if isinstance(statement, ir.Barrier):
            return True
        leaves = (ir.Return, ir.Break, ir.Continue)
        return before and not any(isinstance(s, leaves) for s in walk_stmts((statement,)))

    def _learn(self, statement: ir.AnyStmt, known: dict[str, ir.AnyExpr | None]) -> None:
        """Record a binding; forget loads of what a statement may have written."""
        written = set[str]()
        for inner in walk_stmts((statement,)):
            if isinstance(inner, ir.Barrier | ir.AsyncLoad | ir.AsyncStore | ir.AsyncWait):
                written |= self._writable
            elif isinstance(inner, ir.Store):
                written.add(inner.buffer)
            atomics = (n for e in expr_children(inner) for n in walk_expr(e))
            written |= {n.buffer for n in atomics if isinstance(n, ir.Atomic)}
        for name, value in list(known.items()):
            if value is not None and _loaded(value) & written:
                del known[name]
        match statement:
            case ir.Let(name, value) if name not in self._assigned and _is_repeatable(value):
                whole = self._whole(value, known)
                if whole is not None and not _loaded(whole) & self._private:
                    known[name] = whole
            case _:
                pass

    def _whole(self, value: ir.AnyExpr, known: dict[str, ir.AnyExpr | None]) -> ir.AnyExpr | None:
        """A value in terms of ids, memory and uniform variables; None if it is not such a value."""
        if not variables_of(value) <= known.keys():
            return None

        def put(node: ir.AnyExpr) -> ir.AnyExpr:
            found = known[node.name] if isinstance(node, ir.Var) else None
            return node if found is None else found

        return rewrite_expr(value, put)

    def _leaders(self, statement: ir.AnyStmt) -> _Leaders | None:
        """The guard of a statement that only every few lanes execute; None if it has none."""
        if not isinstance(statement, ir.If) or statement.otherwise:
            return None
        conjuncts = list(_conjuncts(statement.cond))
        for position, conjunct in enumerate(conjuncts):
            stride = _stride_of(conjunct)
            if stride is not None and heuristics.MIN_LEADER_STRIDE <= stride <= self._lanes:
                rest = (*conjuncts[:position], *conjuncts[position + 1 :])
                return _Leaders(stride, rest)
        return None

    def _moved(
        self, statement: ir.AnyStmt, leaders: _Leaders, known: dict[str, ir.AnyExpr | None]
    ) -> ir.AnyStmt | None:
        """The statements of leaders for the first lanes; None if other lanes cannot do them."""
        assert isinstance(statement, ir.If)
        inside = list(walk_stmts(statement.then))
        own = {s.name for s in inside if isinstance(s, ir.Let)}
        own |= {s.var for s in inside if isinstance(s, ir.Loop)}
        exprs = [*leaders.rest, *(e for s in inside for e in expr_children(s))]
        nodes = [node for e in exprs for node in walk_expr(e)]
        if not all(isinstance(s, _MOVED) for s in inside):
            return None
        if any(isinstance(s, ir.Assign) and s.name not in own for s in inside):
            return None
        if any(isinstance(n, ir.Var) and n.name not in own | known.keys() for n in nodes):
            return None
        used = {n.buffer for n in nodes if isinstance(n, (ir.Load, ir.Atomic))}
        used |= {s.buffer for s in inside if isinstance(s, ir.Store)}
        if used & self._private:
            return None
        count = -(-self._lanes // leaders.stride)
        cond: ir.AnyExpr = ir.Binary(ir.BinOp.LT, _LANE, ir.Expr.u32(count))
        for conjunct in leaders.rest:
            asked = self._as_leader(conjunct, leaders.stride, known)
            cond = ir.Binary(ir.BinOp.AND, cond, asked)
        return ir.If(cond, self._body_as_leader(statement.then, leaders.stride, known), ())

    def _body_as_leader(
        self, body: ir.Body, stride: int, known: dict[str, ir.AnyExpr | None]
    ) -> ir.Body:
        return tuple(
            map_bodies(
                map_exprs(statement, lambda expr: self._as_leader(expr, stride, known)),
                lambda inner: self._body_as_leader(inner, stride, known),
            )
            for statement in body
        )

    def _as_leader(
        self, expr: ir.AnyExpr, stride: int, known: dict[str, ir.AnyExpr | None]
    ) -> ir.AnyExpr:
        """An expression as the lane `stride * lid.x` evaluates it."""
        ids = _LeaderIds(stride, self._lanes)

        def put(node: ir.AnyExpr) -> ir.AnyExpr:
            found = known.get(node.name) if isinstance(node, ir.Var) else None
            return ids.of(node) if found is None else rewrite_expr(found, ids.of)

        return rewrite_expr(expr, put)


@dataclass(frozen=True, slots=True)
class _LeaderIds:
    """Ids of leaders: none of these products and sums wraps around, as they are ids themselves."""

    stride: int
    lanes: int

    def of(self, node: ir.AnyExpr) -> ir.AnyExpr:
        """A node for the leader that this lane stands for; quotients of ids become exact."""
        lane = ir.Binary(ir.BinOp.MUL, _LANE, ir.Expr.u32(self.stride))
        group = ir.Binary(ir.BinOp.MUL, _GROUP, ir.Expr.u32(self.lanes))
        whole = ir.Binary(ir.BinOp.ADD, group, lane)
        match node:
            case ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0):
                return lane
            case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0):
                return whole
            case ir.Binary(op, left, ir.Lit(ir.DataType.U32, bits)) if left in (lane, whole):
                quotient = self._quotient(op, left == whole, bits)
                return node if quotient is None else quotient
            case _:
                return node

    def _quotient(self, op: ir.BinOp, is_global: bool, bits: int) -> ir.AnyExpr | None:
        """A quotient or remainder by the stride, if the operation is one."""
        divides = (op is ir.BinOp.DIV and bits == self.stride) or (
            op is ir.BinOp.SHR and 1 << (bits & 31) == self.stride
        )
        if op is ir.BinOp.REM and bits == self.stride and not is_global:
            return ir.Expr.u32(0)
        if not divides or (is_global and self.lanes % self.stride):
            return None
        if not is_global:
            return _LANE
        group = ir.Binary(ir.BinOp.MUL, _GROUP, ir.Expr.u32(self.lanes // self.stride))
        return ir.Binary(ir.BinOp.ADD, group, _LANE)


def _stride_of(conjunct: ir.AnyExpr) -> int | None:
    """The `s` of `lid.x % s == 0`; None for other conditions."""
    match conjunct:
        case ir.Binary(
            ir.BinOp.EQ,
            ir.Binary(ir.BinOp.REM, lane, ir.Lit(ir.DataType.U32, stride)),
            ir.Lit(ir.DataType.U32, 0),
        ) if lane == _LANE:
            return stride
        case ir.Binary(
            ir.BinOp.EQ,
            ir.Binary(ir.BinOp.AND, lane, ir.Lit(ir.DataType.U32, mask)),
            ir.Lit(ir.DataType.U32, 0),
        ) if lane == _LANE and mask & (mask + 1) == 0:
            return mask + 1
        case _:
            return None


def _conjuncts(cond: ir.AnyExpr) -> Iterable[ir.AnyExpr]:
    if isinstance(cond, ir.Binary) and cond.op is ir.BinOp.AND:
        yield from _conjuncts(cond.left)
        yield from _conjuncts(cond.right)
    else:
        yield cond


def _is_repeatable(value: ir.AnyExpr) -> bool:
    """True if a value is the same, bit for bit, wherever it is computed again."""
    if not is_movable(value):
        return False
    return not any(
        isinstance(node, (ir.Unary, ir.Binary)) and node.op.row.approximate
        for node in walk_expr(value)
    )


def _loaded(expr: ir.AnyExpr) -> set[str]:
    return {node.buffer for node in walk_expr(expr) if isinstance(node, ir.Load)}


__all__ = ["CompactLeaders"]
