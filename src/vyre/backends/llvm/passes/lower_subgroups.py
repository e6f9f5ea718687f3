"""Subgroups of 32 lanes, by workgroup memory.

    let b = ballot(c)
becomes
    flags[lane] = u8(c)
    barrier
    if lane < words:  for k in 0..32: bits[lane] |= u32(flags[32 * lane + k] != 0) << k
    barrier
    let b = (bits[lane / 32], 0, 0, 0)

where `lane` is the linear local index. A processor has no lanes that could exchange values in
registers: one thread runs a whole workgroup, and vectors of lanes are as wide as each region's data
ask for. The first line runs in vectors of bytes, and the inner loop is one comparison per word. A
condition that any lane can compute, from ids and read-only memory, is not stored: the inner loop
computes it for each of the 32 lanes. Shuffles and reductions exchange values in the same way;
reductions are joined in lane order.

The checker lets subgroup operations stand in workgroup-uniform control flow only, so a barrier may
stand there as well. Two barriers per operation are enough, also in loops: what is written before
the first was read before the second of the previous operation.
"""

from __future__ import annotations

import math

from vyre import ir
from vyre.analysis import is_movable, reads_memory
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.backends.llvm.rewrites.unread_bindings import without_unread_bindings
from vyre.backends.llvm.rewrites.values_of_lanes import Recomputable
from vyre.ir.infer import TypeEnv
from vyre.ir.walk import (
    bodies,
    expr_children,
    map_bodies,
    map_exprs,
    rebuilt,
    walk_all_exprs,
    walk_expr,
)
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.rewrite.names import Names

_WORD = 32
_OPERATIONS = (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)
_KINDS = (ir.BuiltinKind.SUBGROUP_LANE, ir.BuiltinKind.SUBGROUP_SIZE)
_BARRIER = ir.Barrier(ir.MemoryOrdering.SEQ_CST)
_NOWHERE = ir.Expr.u32((1 << 32) - 1)
_JOINS = {op: ir.BinOp[op.name] for op in ir.ReduceOp}


@vyre_pass(name="lower_subgroups", phase=PassPhase.LOWERING, family=CostModelFamily.MEMORY)
class LowerSubgroups(CpuPass):
    """Replaces subgroup operations by exchanges through workgroup memory.

    Legal always. It is no choice: code for processors has no other form of them.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without subgroups."""
        kinds = NodeKinds.of(program)
        found = kinds.have(*_OPERATIONS) or any(map(kinds.axes, _KINDS))
        return PassAnalysis.RUN if found else PassAnalysis.skip("no subgroup operation")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program without subgroups."""
        return without_subgroups(program, SUBGROUP_LANES)


def without_subgroups(program: ir.Program, lanes: int) -> ir.Program:
    """The same program, for subgroups of `lanes` lanes, a power of two."""
    lowering = _Lowering(program, lanes)
    entry = without_unread_bindings(lowering.body(program.entry))
    buffers = (*program.buffers, *lowering.made.values())
    return program.with_rewritten_entry(entry).with_rewritten_buffers(buffers)


def _exchanges(expr: ir.AnyExpr) -> bool:
    """True if a subgroup operation is part of an expression."""
    return any(isinstance(node, _OPERATIONS) for node in walk_expr(expr))


def _binds(statement: ir.AnyStmt, name: str) -> bool:
    return isinstance(statement, ir.Let) and statement.name == name


def _u32(number: int) -> ir.AnyExpr:
    return ir.Expr.u32(number)


def _binary(op: ir.BinOp, left: ir.AnyExpr, right: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Binary(op, left, right)


class _Lowering:
    """Rewrites bodies; the exchanges go in front of the statement that needs their result."""

    def __init__(self, program: ir.Program, lanes: int) -> None:
        self._lanes = lanes
        self._invocations = math.prod(program.workgroup_size)
        self._subgroups = -(-self._invocations // lanes)
        self._names = Names(program)
        self._types: dict[str, ir.DataType] = {}
        self._buffers = {decl.name: decl for decl in program.buffers}
        self._env = TypeEnv(self._buffers, self._types)
        self._recomputable = Recomputable(program)
        self.made: dict[str, ir.BufferDecl] = {}
        """Buffers for exchanges, by purpose."""
        sx, sy, _ = program.workgroup_size
        self._lane: ir.AnyExpr = ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0)
        for axis, stride in ((1, sx), (2, sx * sy)):
            if program.workgroup_size[axis] > 1:
                other = ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis)
                row = _binary(ir.BinOp.MUL, other, _u32(stride))
                self._lane = _binary(ir.BinOp.ADD, self._lane, row)
        self._own = _binary(ir.BinOp.DIV, self._lane, _u32(lanes))
        """The number of this lane's subgroup in the workgroup."""

    def body(self, body: ir.Body) -> ir.Body:
        made: list[ir.AnyStmt] = []
        for statement in body:
            made += self._statement(statement)
        same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
        return body if same else tuple(made)

    def _statement(self, statement: ir.AnyStmt) -> list[ir.AnyStmt]:
        before: list[ir.AnyStmt] = []
        if isinstance(statement, ir.While) and _exchanges(statement.cond):
            return [self._loop_with_exit(statement)]
        lifted = self._lifted(statement, before)
        match lifted:
            case ir.Let(name, ir.Var(found)) if before and _binds(before[-1], found):
                self._types[name] = self._types[found]
                return [*before[:-1], rebuilt(before[-1], {"name": name})]
            case ir.Let(name, value):
                self._types[name] = ir.type_of(value, self._env)
                self._recomputable.learn(name, value)
            case ir.Loop(var, start, _, _):
                self._types[var] = ir.type_of(start, self._env)
                if any(map(_exchanges, walk_all_exprs(lifted.body))):
                    # All lanes come to the exchange, so the loop counts for all of them alike.
                    self._recomputable.learn_uniform(var)
            case _:
                pass
        return [*before, map_bodies(lifted, self.body) if any(bodies(lifted)) else lifted]

    def _loop_with_exit(self, loop: ir.While) -> ir.AnyStmt:
        """`while c { … }` as `while true { if !c { break } … }`: exchanges precede the branch."""
        leave = ir.If(ir.Unary(ir.UnOp.NOT, loop.cond), (ir.Break(),), ())
        inner = self.body((leave, *loop.body))
        return rebuilt(loop, {"cond": ir.Expr.bool_(True), "body": inner})

    def _lifted(self, tree: ir.AnyStmt, before: list[ir.AnyStmt]) -> ir.AnyStmt:
        """The statement with the results of exchanges, which are added to `before`."""
        pending = sum(map(_exchanges, expr_children(tree)))

        def operand(expr: ir.AnyExpr) -> ir.AnyExpr:
            nonlocal pending
            pending -= _exchanges(expr)
            return self._evaluated(expr, before, early=pending > 0)

        return map_exprs(tree, operand)

    def _evaluated(self, expr: ir.AnyExpr, before: list[ir.AnyStmt], *, early: bool) -> ir.AnyExpr:
        """The expression without exchanges; its value is bound if an exchange comes later."""
        new = self._expression(expr, before)
        if early and (reads_memory(new) or not is_movable(new)):
            return self._bound("before", new, before)
        return new

    def _expression(self, expr: ir.AnyExpr, before: list[ir.AnyStmt]) -> ir.AnyExpr:
        match expr:
            case ir.Builtin(ir.BuiltinKind.SUBGROUP_SIZE):
                return _u32(self._lanes)
            case ir.Builtin(ir.BuiltinKind.SUBGROUP_LANE):
                return _binary(ir.BinOp.REM, self._lane, _u32(self._lanes))
            case _:
                pass
        if expr.depth == 1:
            return expr
        pending = sum(map(_exchanges, expr_children(expr)))

        def operand(child: ir.AnyExpr) -> ir.AnyExpr:
            nonlocal pending
            pending -= _exchanges(child)
            return self._evaluated(child, before, early=pending > 0)

        new = map_exprs(expr, operand)
        match new:
            case ir.Ballot(cond):
                return self._ballot(cond, before)
            case ir.Shuffle(value, source):
                return self._shuffle(value, source, before)
            case ir.SubgroupReduce(op, value):
                return self._reduced(op, value, before)
            case _:
                return new

    def _bound(self, name: str, value: ir.AnyExpr, before: list[ir.AnyStmt]) -> ir.Var:
        fresh = self._names.fresh(name)
        self._types[fresh] = ir.type_of(value, self._env)
        before.append(ir.Let(fresh, value))
        return ir.Var(fresh)

    def _buffer(self, purpose: str, count: int, element: ir.DataType) -> str:
        """Workgroup memory for a purpose."""
        key = f"subgroup_{purpose}_{element}"
        if key not in self.made:
            decl = ir.BufferDecl.workgroup(self._names.fresh(key), count, element)
            self.made[key] = decl
            self._buffers[decl.name] = decl
        return self.made[key].name

    # Exchanges ------------------------------------------------------------------------------------

    def _ballot(self, cond: ir.AnyExpr, before: list[ir.AnyStmt]) -> ir.AnyExpr:
        """A flag per lane, then a word of flags per lane of the first few."""
        packed = min(self._lanes, _WORD)
        words = self._lanes // packed
        count = self._subgroups * words
        bits = self._buffer("bits", count, ir.DataType.U32)
        k, word = self._names.fresh("k"), self._names.fresh("word")
        first_lane = _binary(ir.BinOp.MUL, self._lane, _u32(packed))
        again = self._recomputable.in_lane(cond, first_lane, ir.Var(k))
        stop = _u32(packed)
        if again is None:
            flags = self._buffer("flags", count * packed, ir.DataType.U8)
            at = _binary(ir.BinOp.ADD, first_lane, ir.Var(k))
            flag = _binary(ir.BinOp.NE, ir.Load(flags, at), ir.Lit(ir.DataType.U8, 0))
            before += [ir.Store(flags, self._lane, ir.Cast(cond, ir.DataType.U8)), _BARRIER]
        else:
            flag = again
            before.append(_BARRIER)  # the words of the previous ballot have been read
            if self._invocations % packed:
                left = _binary(ir.BinOp.SUB, _u32(self._invocations), first_lane)
                stop = _binary(ir.BinOp.MIN, stop, left)
        bit = _binary(ir.BinOp.SHL, ir.Cast(flag, ir.DataType.U32), ir.Var(k))
        joined = ir.Assign(word, _binary(ir.BinOp.OR, ir.Var(word), bit))
        self._types[word] = self._types[k] = ir.DataType.U32
        # A word beyond the last invocation stays zero.
        held = min(count, -(-self._invocations // packed))
        before += [
            self._by_the_first(
                held,
                (
                    ir.Let(word, _u32(0)),
                    ir.Loop(k, _u32(0), stop, (joined,)),
                    ir.Store(bits, self._lane, ir.Var(word)),
                ),
            ),
            _BARRIER,
        ]
        first = _binary(ir.BinOp.MUL, self._own, _u32(words)) if words > 1 else self._own
        found = [ir.Load(bits, _plus(first, number)) for number in range(words)]
        lanes = (*found, *[_u32(0)] * (4 - words))
        return self._bound("ballot", ir.MakeVec(ir.DataType.VEC4_U32, lanes), before)

    def _by_the_first(self, count: int, body: ir.Body) -> ir.AnyStmt:
        """Statements for the first `count` lanes of the workgroup."""
        return ir.If(_binary(ir.BinOp.LT, self._lane, _u32(count)), body, ())

    def _shuffle(
        self, value: ir.AnyExpr, source: ir.AnyExpr, before: list[ir.AnyStmt]
    ) -> ir.AnyExpr:
        """The value at another place; a lane that is not there is out of bounds."""
        dtype = ir.type_of(value, self._env)
        values = self._buffer("values", self._invocations, dtype)
        wanted = source
        if not isinstance(source, (ir.Var, ir.Lit)):
            wanted = self._bound("source", source, before)
        before += [ir.Store(values, self._lane, value), _BARRIER]
        # A negative lane is a large unsigned one.
        wide = ir.Cast(wanted, ir.DataType.U64)
        exists = _binary(ir.BinOp.LT, wide, ir.Lit(ir.DataType.U64, self._lanes))
        first = _binary(ir.BinOp.MUL, self._own, _u32(self._lanes))
        at = _binary(ir.BinOp.ADD, first, ir.Cast(wanted, ir.DataType.U32))
        found = self._bound("shuffled", ir.Load(values, ir.Select(exists, at, _NOWHERE)), before)
        before.append(_BARRIER)
        return found

    def _reduced(self, op: ir.ReduceOp, value: ir.AnyExpr, before: list[ir.AnyStmt]) -> ir.AnyExpr:
        """The values of each subgroup joined in lane order by one of the first few lanes."""
        dtype = ir.type_of(value, self._env)
        totals = self._buffer("totals", self._subgroups, dtype)
        k, total, first = (self._names.fresh(name) for name in ("k", "total", "first"))
        self._types |= {total: dtype, k: ir.DataType.U32, first: ir.DataType.U32}
        begin = _binary(ir.BinOp.MUL, self._lane, _u32(self._lanes))
        value_at = self._recomputable.in_lane(value, ir.Var(first), ir.Var(k))
        start = self._recomputable.in_lane(value, ir.Var(first), _u32(0))
        if value_at is None or start is None:
            values = self._buffer("values", self._invocations, dtype)
            value_at = ir.Load(values, _binary(ir.BinOp.ADD, ir.Var(first), ir.Var(k)))
            start = ir.Load(values, ir.Var(first))
            before.append(ir.Store(values, self._lane, value))
        # The values are there, and the totals of the previous reduction have been read.
        before.append(_BARRIER)
        joined = ir.Assign(total, ir.Binary(_JOINS[op], ir.Var(total), value_at))
        stop = _u32(self._lanes)
        if self._invocations % self._lanes:
            left = _binary(ir.BinOp.SUB, _u32(self._invocations), ir.Var(first))
            stop = _binary(ir.BinOp.MIN, stop, left)
        identity = _identity(op, dtype)
        before += [
            self._by_the_first(
                self._subgroups,
                (
                    ir.Let(first, begin),
                    ir.Let(total, start if identity is None else identity),
                    ir.Loop(k, _u32(int(identity is None)), stop, (joined,)),
                    ir.Store(totals, self._lane, ir.Var(total)),
                ),
            ),
            _BARRIER,
        ]
        return self._bound("joined", ir.Load(totals, self._own), before)


def _identity(op: ir.ReduceOp, dtype: ir.DataType) -> ir.AnyExpr | None:
    """What changes nothing when joined, for integers: whole vectors are joined then."""
    if not dtype.is_integer:
        return None
    low, high = dtype.integer_range
    ones = -1 if dtype.is_signed else high
    found = {
        ir.ReduceOp.MUL: 1,
        ir.ReduceOp.MIN: high,
        ir.ReduceOp.MAX: low,
        ir.ReduceOp.AND: ones,
    }
    return ir.Expr.lit(found.get(op, 0), dtype)


def _plus(expr: ir.AnyExpr, number: int) -> ir.AnyExpr:
    return _binary(ir.BinOp.ADD, expr, _u32(number)) if number else expr


__all__ = ["LowerSubgroups", "without_subgroups"]
