"""What holds for a whole row of lanes: guards that are true and accesses that are in bounds.

In `if gid.x < n { … a[gid.x] … }` the guard and the access hold for the first so many lanes of a
row and for none after. Those lanes run in full vectors without any test, the rest one by one with
all of them. The number is computed once per row, from the values that the first lane would have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Binary,
    BinOp,
    Block,
    Body,
    BufferAccess,
    BufLen,
    Builtin,
    BuiltinKind,
    Cast,
    If,
    Let,
    Lit,
    Load,
    Program,
    Region,
    Store,
    Var,
)
from vyre.ir.walk import expr_children, rewrite_expr, walk_expr, walk_stmts

MOST_NODES = 24
"""Expressions that grow larger than this when names are written out are left alone."""

_IDS = frozenset({BuiltinKind.GLOBAL_ID, BuiltinKind.LOCAL_ID})


@dataclass(slots=True)
class Peeling:
    """The conditions and accesses of a stretch of work that hold for the first lanes of a row."""

    program: Program
    body: Body
    outer: dict[str, AnyExpr]
    """Values of names bound outside that are pure and the same anywhere."""
    guards: dict[AnyExpr, tuple[AnyExpr, AnyExpr]] = field(
        default_factory=dict[AnyExpr, tuple[AnyExpr, AnyExpr]]
    )
    """Conditions that hold, names written out, with the rising side and its limit."""
    refuted: dict[AnyExpr, tuple[AnyExpr, AnyExpr]] = field(
        default_factory=dict[AnyExpr, tuple[AnyExpr, AnyExpr]]
    )
    """Conditions that do not hold."""
    accesses: dict[tuple[str, AnyExpr], None] = field(
        default_factory=dict[tuple[str, AnyExpr], None]
    )
    _values: dict[str, AnyExpr] = field(default_factory=dict[str, AnyExpr])

    def __post_init__(self) -> None:
        self._values.update(self.outer)
        assigned = {s.name for s in walk_stmts(self.body) if isinstance(s, Assign)}
        for statement in walk_stmts(self.body):
            if isinstance(statement, Let) and statement.name not in assigned:
                written = self.expand(statement.value)
                if self._is_pure(written):
                    self._values[statement.name] = written
        self._collect(self.body)

    def expand(self, expr: AnyExpr) -> AnyExpr:
        """The expression with names written out as far as they are pure."""
        known = self._values

        def one(node: AnyExpr) -> AnyExpr:
            return known.get(node.name, node) if isinstance(node, Var) else node

        return rewrite_expr(expr, one)

    def is_true(self, cond: AnyExpr) -> bool:
        """Whether a condition holds for the peeled lanes."""
        if isinstance(cond, Binary) and cond.op is BinOp.AND:
            return self.is_true(cond.left) and self.is_true(cond.right)
        return self.expand(cond) in self.guards

    def is_false(self, cond: AnyExpr) -> bool:
        """Whether a condition fails for the peeled lanes."""
        return self.expand(cond) in self.refuted

    def is_inside(self, buffer: str, index: AnyExpr) -> bool:
        """Whether an access is in bounds for the peeled lanes."""
        return (buffer, self.expand(index)) in self.accesses

    def _is_pure(self, expr: AnyExpr) -> bool:
        nodes = list(walk_expr(expr))
        return len(nodes) <= MOST_NODES and all(self._pure_node(node) for node in nodes)

    def _pure_node(self, node: AnyExpr) -> bool:
        match node:
            case Lit() | BufLen() | Cast():
                return True
            case Builtin(kind, _):
                return kind not in (BuiltinKind.SUBGROUP_LANE, BuiltinKind.SUBGROUP_SIZE)
            case Binary(op, _, _):
                return not op.row.approximate
            case Load(buffer, _):
                decl = self.program.buffer(buffer)
                constant = (BufferAccess.READ_ONLY, BufferAccess.UNIFORM)
                return decl is not None and decl.access in constant
            case _:
                return False

    def _collect(self, body: Body) -> None:
        for statement in body:
            for access in _accesses(statement):
                if access[0] not in self._private() and self._rises(self.expand(access[1])):
                    self.accesses[(access[0], self.expand(access[1]))] = None
            match statement:
                case Block(inner) | Region(_, _, inner):
                    self._collect(inner)
                case If(cond, then, otherwise):
                    if self._take_guard(cond):
                        self._collect(then)
                    elif self._take_refuted(cond):
                        self._collect(otherwise)
                case _:
                    pass

    def _private(self) -> set[str]:
        return {decl.name for decl in self.program.buffers if decl.is_local}

    def _take_guard(self, cond: AnyExpr) -> bool:
        if isinstance(cond, Binary) and cond.op is BinOp.AND:
            left = self._take_guard(cond.left)
            right = self._take_guard(cond.right)
            return left and right
        found = self._below(cond, BinOp.LT, BinOp.GT)
        if found is None:
            return False
        self.guards[self.expand(cond)] = found
        return True

    def _take_refuted(self, cond: AnyExpr) -> bool:
        found = self._below(cond, BinOp.GE, BinOp.LE)
        if found is None:
            return False
        self.refuted[self.expand(cond)] = found
        return True

    def _below(
        self, cond: AnyExpr, forward: BinOp, backward: BinOp
    ) -> tuple[AnyExpr, AnyExpr] | None:
        """The rising side and the limit of a comparison."""
        written = self.expand(cond)
        if not isinstance(written, Binary) or not self._is_pure(written):
            return None
        sides = {forward: (written.left, written.right), backward: (written.right, written.left)}
        found = sides.get(written.op)
        if found is None or not self._rises(found[0]) or self._moves(found[1]):
            return None
        return found

    def _rises(self, expr: AnyExpr) -> bool:
        """Whether the value is that of the first lane plus the lane's number; `u32` only."""
        match expr:
            case Builtin(kind, 0) if kind in _IDS:
                return True
            case Binary(BinOp.ADD, left, right):
                return self._is_pure(expr) and (
                    (self._rises(left) and not self._moves(right))
                    or (self._rises(right) and not self._moves(left))
                )
            case Binary(BinOp.SUB, left, right):
                return self._is_pure(expr) and self._rises(left) and not self._moves(right)
            case _:
                return False

    def _moves(self, expr: AnyExpr) -> bool:
        """Whether the value may differ along a row."""
        return any(
            isinstance(node, Builtin) and node.kind in _IDS and node.axis == 0
            for node in walk_expr(expr)
        ) or not self._is_pure(expr)

    def emit_limit(self, kernel: Kernel, first: Lanes) -> str:
        """How many lanes of the row everything holds for; `first` is the row's first lane."""
        w = kernel.w
        limit = str(kernel.size[0])
        for rising, bound in (*self.guards.values(), *self.refuted.values()):
            start, stop = first.value(rising).text, first.value(bound).text
            room = w.intrinsic("usub.sat", "i32", stop, start)
            limit = w.intrinsic("umin", "i32", limit, room)
        for buffer, index in self.accesses:
            start = w.emit(f"zext i32 {first.value(index).text} to i64")
            count = kernel.memories[buffer].count
            room = w.intrinsic("usub.sat", "i64", count, start)
            capped = w.intrinsic("umin", "i64", room, str(kernel.size[0]))
            room = w.emit(f"trunc i64 {capped} to i32")
            limit = w.intrinsic("umin", "i32", limit, room)
        return limit


def _accesses(statement: AnyStmt) -> Iterator[tuple[str, AnyExpr]]:
    """Buffers and indices that a statement itself, not its bodies, accesses."""
    if isinstance(statement, Store):
        yield statement.buffer, statement.index
    for child in expr_children(statement):
        for node in walk_expr(child):
            if isinstance(node, Load):
                yield node.buffer, node.index
