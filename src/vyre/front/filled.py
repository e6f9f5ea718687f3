"""Outputs that a program writes from one end to the other, so that nobody sees what was there.

In `if i < y.shape[0] and j < y.shape[1]: y[i, j] = …` every invocation inside of `y` stores its own
element. Where the grid covers `y`, all of it is written: it need not be zeros before. That holds if
nothing reads the buffer, if the store is at the invocation's own position, and if all that stands
between an invocation and its store are comparisons of its position with extents.
"""

from __future__ import annotations

from dataclasses import field

from vyre.front.values import SHAPE
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    AsyncLoad,
    AsyncStore,
    Atomic,
    Binary,
    BinOp,
    Block,
    Body,
    BufLen,
    Builtin,
    BuiltinKind,
    Expr,
    If,
    IndirectDispatch,
    Let,
    Lit,
    Load,
    Program,
    Region,
    Return,
    Select,
    Store,
    Unary,
    UnOp,
    Var,
)
from vyre.ir.walk import expr_children, rewrite_expr, walk_expr, walk_stmts
from vyre.record import dataclass

Extent = tuple[str, int]
"""A buffer, and which of its axes."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A buffer of so many axes whose elements are all written, if the grid is large enough."""

    rank: int
    bounds: tuple[tuple[int, Extent], ...]
    """Axes of the grid, and extents that invocations with work along them are less than.

    Each must not be less than the extent of the buffer itself along that axis of the grid: the
    grid's x is the buffer's last axis.
    """


def filled_buffers(program: Program) -> dict[str, Filled]:
    """The buffers of a program that are written from one end to the other."""
    seen: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (AsyncLoad, AsyncStore, IndirectDispatch)):
            return {}
        for child in expr_children(statement):
            seen |= {n.buffer for n in walk_expr(child) if isinstance(n, (Load, Atomic))}
    search = _Search({s.name for s in walk_stmts(program.entry) if isinstance(s, Assign)}, seen)
    search.visit(program.entry, ())
    return search.found


@dataclass(slots=True)
class _Search:
    assigned: set[str]
    read: set[str]
    found: dict[str, Filled] = field(default_factory=dict[str, Filled])
    _values: dict[str, AnyExpr] = field(default_factory=dict[str, AnyExpr])

    def visit(self, body: Body, bounds: tuple[tuple[int, Extent], ...]) -> bool:
        """Look at statements that run under some bounds; whether what follows still does."""
        for position, statement in enumerate(body):
            match statement:
                case Let(name, value):
                    if name not in self.assigned:
                        self._values[name] = self._written(value)
                case Block(inner) | Region(_, _, inner):
                    if not self.visit(inner, bounds):
                        return False
                case If(cond, (Return(),), ()):
                    more = self._bounds(Unary(UnOp.NOT, cond))
                    if more is not None:
                        self.visit(body[position + 1 :], bounds + more)
                    return False
                case If(cond, then, ()) if not _leaves(statement):
                    more = self._bounds(cond)
                    if more is not None:
                        self.visit(then, bounds + more)
                case Store():
                    self._store(statement, bounds)
                case _:
                    if _leaves(statement):
                        return False
        return True

    def _store(self, store: Store, bounds: tuple[tuple[int, Extent], ...]) -> None:
        index = self._written(store.index)
        if isinstance(index, Select):
            more = self._bounds(index.cond)
            index, bounds = index.if_true, bounds + (more or ())
            if more is None:
                return
        rank = _rank(index, store.buffer)
        if rank and store.buffer not in self.read:
            self.found.setdefault(store.buffer, Filled(rank, tuple(dict.fromkeys(bounds))))

    def _written(self, expr: AnyExpr) -> AnyExpr:
        def one(node: AnyExpr) -> AnyExpr:
            return self._values.get(node.name, node) if isinstance(node, Var) else node

        return rewrite_expr(expr, one)

    def _bounds(self, cond: AnyExpr) -> tuple[tuple[int, Extent], ...] | None:
        """A condition as positions that are less than extents; None if it asks for more."""
        found: list[tuple[int, Extent]] = []
        for left, right in _comparisons(self._written(cond)):
            extent = _extent(right)
            if extent is None or not isinstance(left, Builtin):
                return None
            if left.kind is not BuiltinKind.GLOBAL_ID:
                return None
            found.append((left.axis, extent))
        return tuple(found) or None


def _comparisons(cond: AnyExpr, *, negated: bool = False) -> list[tuple[AnyExpr, AnyExpr]]:
    """What is less than what, if a condition is nothing but such comparisons; else what is not."""
    match cond:
        case Unary(UnOp.NOT, operand):
            return _comparisons(operand, negated=not negated)
        case Binary(BinOp.AND, left, right) if not negated:
            return [*_comparisons(left), *_comparisons(right)]
        case Binary(BinOp.OR, left, right) if negated:
            return [*_comparisons(left, negated=True), *_comparisons(right, negated=True)]
        case Binary(BinOp.LT, left, right) if not negated:
            return [(left, right)]
        case Binary(BinOp.GT, left, right) if not negated:
            return [(right, left)]
        case Binary(BinOp.GE, left, right) if negated:
            return [(left, right)]
        case Binary(BinOp.LE, left, right) if negated:
            return [(right, left)]
        case _:
            return [(cond, cond)]


def _extent(expr: AnyExpr) -> Extent | None:
    match expr:
        case BufLen(buffer):
            return buffer, -1
        case Load(buffer, Lit() as axis) if buffer.endswith(SHAPE):
            return buffer.removesuffix(SHAPE), int(axis.value)
        case _:
            return None


def _rank(index: AnyExpr, buffer: str) -> int:
    """How many axes of a buffer an invocation's own position is an index of; 0 for others."""
    for rank in (1, 2, 3):
        own: AnyExpr = Builtin(BuiltinKind.GLOBAL_ID, rank - 1)
        for axis in range(1, rank):
            extent = Load(buffer + SHAPE, Expr.u32(axis))
            along = Builtin(BuiltinKind.GLOBAL_ID, rank - 1 - axis)
            own = Binary(BinOp.ADD, Binary(BinOp.MUL, own, extent), along)
        if index == own:
            return rank
    return 0


def _leaves(statement: AnyStmt) -> bool:
    return any(isinstance(inner, Return) for inner in walk_stmts((statement,)))


__all__ = ["Filled", "filled_buffers"]
