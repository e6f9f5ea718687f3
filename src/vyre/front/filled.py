"""Outputs that a program writes altogether or but for their edges: what was there nobody sees.

In `if i < y.shape[0] and j < y.shape[1]: y[i, j] = …` every invocation inside of `y` stores its own
element. Where the grid covers `y`, all of it is written: it need not be zeros before. In
`if i > 0 and i < y.shape[0] - 1: …` the edges must be, and no more. That holds if nothing reads the
buffer, if the store is at the invocation's own position, and if all that stands between an
invocation and its store are comparisons of its position with extents and numbers. A store to each
part of a last axis, `y[i, 0] = …`, `y[i, 1] = …`, is as good.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    Cast,
    DataType,
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
"""A buffer, and which of its axes; -1 for all of its elements."""

SAFE_EXTENT = 1 << 30
"""Along axes that are shorter, positions and small numbers add up in `i32` and in `u32` alike."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Invocations from `first` on, and before the end of an extent less a margin, do their work.

    There may be others that do: where an extent is less than the margin, the difference wraps.
    """

    axis: int
    """Of the grid."""
    first: int = 0
    extent: Extent | None = None
    margin: int = 0


@dataclass(frozen=True, slots=True)
class Filled:
    """A buffer whose elements are written by invocations at their own positions.

    The grid's x is the buffer's last axis. With `parts`, it is the last but one, and those are the
    positions along the last that each invocation writes.
    """

    rank: int
    limits: tuple[Limit, ...]
    """What invocations must keep to write; all of them."""
    parts: frozenset[int] | None = None


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

    def visit(self, body: Body, limits: tuple[Limit, ...]) -> bool:
        """Look at statements that run under some limits; whether what follows still does."""
        for position, statement in enumerate(body):
            match statement:
                case Let(name, value):
                    if name not in self.assigned:
                        self._values[name] = self._written(value)
                case Block(inner) | Region(_, _, inner):
                    if not self.visit(inner, limits):
                        return False
                case If(cond, (Return(),), ()):
                    more = _limits(self._written(Unary(UnOp.NOT, cond)))
                    if more is not None:
                        self.visit(body[position + 1 :], limits + more)
                    return False
                case If(cond, then, ()) if not _leaves(statement):
                    more = _limits(self._written(cond))
                    if more is not None:
                        self.visit(then, limits + more)
                case Store():
                    self._store(statement, limits)
                case _:
                    if _leaves(statement):
                        return False
        return True

    def _store(self, store: Store, limits: tuple[Limit, ...]) -> None:
        buffer, index = store.buffer, self._written(store.index)
        cond = None
        if isinstance(index, Select):
            cond, index = index.cond, index.if_true
        rank, part = _place(index, buffer)
        if not rank or buffer in self.read:
            return
        if cond is not None:
            # An element that is not there needs not be written.
            own = (
                None if part is None else (Expr.u32(part), Load(buffer + SHAPE, Expr.u32(rank - 1)))
            )
            more = _limits(cond, own)
            if more is None:
                return
            limits += more
        parts = None if part is None else frozenset((part,))
        made = Filled(rank, tuple(dict.fromkeys(limits)), parts)
        known = self.found.setdefault(buffer, made)
        if known.parts is not None and made.parts is not None and known.rank == rank:
            both = tuple(dict.fromkeys(known.limits + made.limits))
            self.found[buffer] = Filled(rank, both, known.parts | made.parts)

    def _written(self, expr: AnyExpr) -> AnyExpr:
        return expanded(expr, self._values)


def expanded(expr: AnyExpr, values: Mapping[str, AnyExpr]) -> AnyExpr:
    """An expression with the values of variables in their place."""

    def one(node: AnyExpr) -> AnyExpr:
        return values.get(node.name, node) if isinstance(node, Var) else node

    return rewrite_expr(expr, one)


def own_rank(index: AnyExpr, buffer: str) -> int:
    """How many axes a buffer has of which an index is the invocation's own position; or 0."""
    rank, part = _place(index, buffer)
    return rank if part is None else 0


def has_limits(cond: AnyExpr) -> bool:
    """Whether a condition only compares positions with extents and numbers."""
    return _limits(cond) is not None


def conditions(cond: AnyExpr) -> list[AnyExpr]:
    """What all must hold for a condition to."""
    match cond:
        case Binary(BinOp.AND, left, right):
            return conditions(left) + conditions(right)
        case _:
            return [cond]


_FARTHEST = 1 << 16
_WORDS = (DataType.U32, DataType.I32)
_Compared = tuple[BinOp, AnyExpr, AnyExpr]
_NEGATED = {BinOp.LT: BinOp.GE, BinOp.GE: BinOp.LT, BinOp.GT: BinOp.LE, BinOp.LE: BinOp.GT}
_MIRRORED = {BinOp.LT: BinOp.GT, BinOp.GE: BinOp.LE, BinOp.GT: BinOp.LT, BinOp.LE: BinOp.GE}


def _limits(
    cond: AnyExpr, granted: tuple[AnyExpr, AnyExpr] | None = None
) -> tuple[Limit, ...] | None:
    """A condition as limits of positions; None if it asks for more.

    `granted` is a pair of which the first is less than the second wherever that matters.
    """
    compared = _comparisons(cond, negated=False)
    found: list[Limit] = []
    for op, left, right in compared or ():
        if op is BinOp.LT and (left, right) == granted:
            continue
        limit = _limit(op, left, right)
        if limit is None:
            return None
        found.append(limit)
    return None if compared is None else tuple(found)


def _comparisons(cond: AnyExpr, *, negated: bool) -> list[_Compared] | None:
    """The comparisons that a condition is made of, if all of them must hold; else None."""
    match cond:
        case Unary(UnOp.NOT, operand):
            return _comparisons(operand, negated=not negated)
        case Binary(op, left, right) if op is (BinOp.OR if negated else BinOp.AND):
            both = [_comparisons(side, negated=negated) for side in (left, right)]
            if both[0] is None or both[1] is None:
                return None
            return both[0] + both[1]
        case Binary(op, left, right) if op in _NEGATED:
            return [(_NEGATED[op] if negated else op, left, right)]
        case Binary(op, left, right) if op is (BinOp.EQ if negated else BinOp.NE):
            return [(BinOp.NE, left, right)]
        case _:
            return None


def _limit(op: BinOp, left: AnyExpr, right: AnyExpr) -> Limit | None:
    """A comparison of a position with an extent or with a number."""
    place = _position(left)
    if place is None:
        place, right = _position(right), left
        op = _MIRRORED.get(op, op)
    if place is None:
        return None
    axis, moved = place
    if isinstance(right, Lit) and right.dtype in _WORDS:
        least = int(right.value) - moved + (op is not BinOp.GE)
        if op is BinOp.NE:
            # All but the first position, or what is more than that.
            return Limit(axis, max(least, 0)) if least == 1 else None
        return Limit(axis, max(least, 0)) if op in (BinOp.GT, BinOp.GE) else None
    end = _end(right)
    if end is None or op not in (BinOp.LT, BinOp.LE):
        return None
    extent, margin = end
    # A position that is moved down wraps at the beginning.
    return Limit(axis, max(-moved, 0), extent, max(margin + moved - (op is BinOp.LE), 0))


def _position(expr: AnyExpr) -> tuple[int, int] | None:
    """An invocation's own position with a number added: the axis of the grid, and the number."""
    match expr:
        case Builtin(BuiltinKind.GLOBAL_ID, axis):
            return axis, 0
        case Cast(value, dtype) if dtype in _WORDS:
            return _position(value)
        case Binary(BinOp.ADD | BinOp.SUB as op, left, Lit() as right):
            inner, number = _position(left), _small(right)
            if inner is None or number is None:
                return None
            return inner[0], inner[1] + (number if op is BinOp.ADD else -number)
        case _:
            return None


def _end(expr: AnyExpr) -> tuple[Extent, int] | None:
    """An extent with a number taken off."""
    match expr:
        case BufLen(buffer):
            return (buffer, -1), 0
        case Load(buffer, Lit() as axis) if buffer.endswith(SHAPE):
            return (buffer.removesuffix(SHAPE), int(axis.value)), 0
        case Cast(value, dtype) if dtype in _WORDS:
            return _end(value)
        case Binary(BinOp.SUB, left, Lit() as right):
            inner, number = _end(left), _small(right)
            return None if inner is None or number is None else (inner[0], inner[1] + number)
        case _:
            return None


def _small(literal: Lit) -> int | None:
    """A number that may be added to positions."""
    if literal.dtype not in _WORDS:
        return None
    value = int(literal.value)
    return value if 0 <= value <= _FARTHEST else None


def _place(index: AnyExpr, buffer: str) -> tuple[int, int | None]:
    """How many axes of a buffer an index has that is an invocation's own position; 0 for others.

    And the number that stands for the last axis, if one does.
    """
    for rank in (1, 2, 3):
        if index == _own(buffer, rank):
            return rank, None
    match index:
        case Binary(BinOp.ADD, Binary(BinOp.MUL, own, along), Lit() as last):
            for rank in (2, 3, 4):
                extent = Load(buffer + SHAPE, Expr.u32(rank - 1))
                if along == extent and own == _own(buffer, rank - 1):
                    return rank, int(last.value)
        case _:
            pass
    return 0, None


def _own(buffer: str, rank: int) -> AnyExpr:
    """The index of an invocation's own position along the first axes of a buffer."""
    own: AnyExpr = Builtin(BuiltinKind.GLOBAL_ID, rank - 1)
    for axis in range(1, rank):
        extent = Load(buffer + SHAPE, Expr.u32(axis))
        along = Builtin(BuiltinKind.GLOBAL_ID, rank - 1 - axis)
        own = Binary(BinOp.ADD, Binary(BinOp.MUL, own, extent), along)
    return own


def _leaves(statement: AnyStmt) -> bool:
    return any(isinstance(inner, Return) for inner in walk_stmts((statement,)))


__all__ = [
    "SAFE_EXTENT",
    "Filled",
    "Limit",
    "conditions",
    "expanded",
    "filled_buffers",
    "has_limits",
    "own_rank",
]
