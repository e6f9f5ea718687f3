"""Workgroup memory where a program is cut but no barrier stands: around loops that hold one.

A grid-wide barrier takes workgroup memory away, and so does the end of a segment, which is what is
wanted at a barrier. Where a loop around a barrier begins, goes on or ends, a segment ends as well,
but the program is told nothing of it. Workgroup arrays that are in use there are put into device
memory, one for each workgroup, for as long as the program runs; barriers clear them.

Elements of all workgroups take turns in it: element `i` of workgroup `w` of `n` is at `i * n + w`.
So an index out of bounds is out of bounds there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from vyre import ir
from vyre.analysis.used_names import uses_of
from vyre.driver.grid_sync.outline import Copy, Item, Plain, Repeat, Sync, may_leave
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr

_NARROW = 4
"""Bytes of the widest index that a `u32` holds, but for its sign."""


def outliving(program: ir.Program, items: Iterable[Item]) -> frozenset[str]:
    """The workgroup buffers that a segment may leave to another without a barrier between them."""
    workgroup = frozenset(decl.name for decl in program.buffers if decl.is_workgroup)
    walk = _Walk(workgroup)
    if workgroup:
        walk.items(items)
    return frozenset(walk.found)


class _Walk:
    """Goes through a program as its segments run, with the workgroup buffers that are in use."""

    def __init__(self, workgroup: frozenset[str]) -> None:
        self.workgroup = workgroup
        self.found: set[str] = set()
        self.here: set[str] = set()
        """Used in the segment at hand."""
        self.before: set[str] = set()
        """Used in a segment before it, with no barrier since."""
        self.left: set[str] = set()
        """In use where the loop around is left, or goes on early."""

    def items(self, items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Plain(statement):
                    used = uses_of([statement]).buffers & self.workgroup
                    self.found |= used & self.before
                    self.here |= used
                    if may_leave(statement):
                        self.left |= self.here | self.before
                case Sync():
                    self.here, self.before = set(), set()
                case Copy():
                    pass  # barriers stand before and after it
                case Repeat(_, inner):
                    self.loop(inner)

    def loop(self, inner: tuple[Item, ...]) -> None:
        around, self.left = self.left, set()
        self.cut()
        entering = set(self.before)
        while True:
            self.items(inner)
            self.cut()
            # What a round leaves, another may find, and so may what comes after the loop.
            self.before |= self.left | entering
            if self.before == entering:
                break
            entering = set(self.before)
        self.left = around

    def cut(self) -> None:
        """The segment at hand ends."""
        self.before |= self.here
        self.here = set()


class InDeviceMemory:
    """Rewrites a segment so that some workgroup buffers are parts of device buffers.

    `names` says what these are called.
    """

    def __init__(
        self, program: ir.Program, names: Mapping[str, str], variables: Mapping[str, ir.DataType]
    ) -> None:
        self._size = program.workgroup_size
        self._names = names
        self._decls = {d.name: d for d in program.buffers if d.name in names}
        made = {names[decl.name]: declared(names[decl.name], decl) for decl in self._decls.values()}
        self._env = TypeEnv({**ir.Scope.of(program).buffers, **made}, variables)
        self._copies = 0

    def body(self, body: Iterable[ir.AnyStmt]) -> ir.Body:
        """The statements on device memory."""
        return tuple(self._statement(statement) for statement in body)

    def _statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        if isinstance(statement, (ir.AsyncLoad, ir.AsyncStore)):
            statement = self._copied(statement)
        elif isinstance(statement, ir.Store) and statement.buffer in self._names:
            place = self._place(statement.buffer, statement.index)
            name = self._names[statement.buffer]
            statement = rebuilt(statement, {"buffer": name, "index": place})
        statement = map_exprs(statement, lambda child: rewrite_expr(child, self._expression))
        return map_bodies(statement, self.body)

    def _expression(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        match expr:
            case ir.Load(buffer, index) | ir.Atomic(_, buffer, index) if buffer in self._names:
                place = self._place(buffer, index)
                return rebuilt(expr, {"buffer": self._names[buffer], "index": place})
            case ir.BufLen(buffer) if buffer in self._names:
                return ir.Expr.u32(self._decls[buffer].count)
            case _:
                return expr

    def _place(self, name: str, index: ir.AnyExpr) -> ir.AnyExpr:
        """Where an element of this workgroup is; beyond the end if there is no such element."""
        dtype = type_of(index, self._env)
        count = self._decls[name].count
        if (dtype.size_bytes or 0) <= _NARROW:
            inside = ir.Expr.min_(ir.Expr.cast(index, ir.DataType.U32), ir.Expr.u32(count))
        else:
            limit = ir.Expr.lit(count, ir.DataType.U64)
            inside = ir.Expr.cast(
                ir.Expr.min_(ir.Expr.cast(index, ir.DataType.U64), limit), ir.DataType.U32
            )
        return inside * _workgroups() + _workgroup()

    def _copied(self, copy: ir.AsyncLoad | ir.AsyncStore) -> ir.AnyStmt:
        """The copy as a loop: each invocation moves its share of the elements at once."""
        mine = copy.destination if isinstance(copy, ir.AsyncLoad) else copy.source
        if mine not in self._names:
            return copy
        self._copies += 1
        names = [f"vyre.sync.copy{self._copies}.{part}" for part in ("to", "from", "count", "at")]
        operands = (copy.destination_start, copy.source_start, copy.count)
        to, origin, count, at = (ir.Expr.var(name) for name in names)
        lanes = reduce(int.__mul__, self._size)
        # Counters of 64 bits do not wrap, whatever the operands are.
        step = at * ir.Expr.lit(lanes, ir.DataType.I64) + ir.Expr.cast(
            _lane(self._size), ir.DataType.I64
        )
        rounds = (count + ir.Expr.lit(lanes - 1, ir.DataType.I64)) / ir.Expr.lit(
            lanes, ir.DataType.I64
        )
        element = ir.Expr.load(copy.source, origin + step)
        move = ir.Node.if_(step < count, [ir.Node.store(copy.destination, to + step, element)])
        self._env = TypeEnv(
            self._env.buffers, {**self._env.variables, **dict.fromkeys(names, ir.DataType.I64)}
        )
        lets = [
            ir.Node.let(name, self._clamped(operand))
            for name, operand in zip(names, operands, strict=False)
        ]
        return ir.Node.block(
            [*lets, ir.Node.loop(names[3], ir.Expr.lit(0, ir.DataType.I64), rounds, [move])]
        )

    def _clamped(self, operand: ir.AnyExpr) -> ir.AnyExpr:
        """A start or a count, held where sums of them do not wrap."""
        dtype = type_of(operand, self._env)
        limit = 1 << 61
        if dtype is ir.DataType.U64:
            operand = ir.Expr.min_(operand, ir.Expr.lit(limit, dtype))
        wide = ir.Expr.cast(operand, ir.DataType.I64)
        low, high = (ir.Expr.lit(bound, ir.DataType.I64) for bound in (-limit, limit))
        return ir.Expr.max_(ir.Expr.min_(wide, high), low) if dtype is ir.DataType.I64 else wide


def declared(name: str, decl: ir.BufferDecl) -> ir.BufferDecl:
    """The device buffer for a workgroup buffer of all workgroups."""
    return ir.BufferDecl.read_write(name, 0, decl.element)


def _lane(size: tuple[int, int, int]) -> ir.AnyExpr:
    x, y, _ = size
    row = ir.Expr.local_id(1) + ir.Expr.local_id(2) * ir.Expr.u32(y)
    return ir.Expr.local_id(0) + row * ir.Expr.u32(x)


def _workgroups() -> ir.AnyExpr:
    return ir.Expr.num_workgroups(0) * ir.Expr.num_workgroups(1) * ir.Expr.num_workgroups(2)


def _workgroup() -> ir.AnyExpr:
    layer = ir.Expr.workgroup_id(1) + ir.Expr.workgroup_id(2) * ir.Expr.num_workgroups(1)
    return ir.Expr.workgroup_id(0) + layer * ir.Expr.num_workgroups(0)
