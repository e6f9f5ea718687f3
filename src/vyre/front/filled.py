"""Outputs that a program writes altogether or but for their edges: what was there nobody sees.

In `if i < y.shape[0] and j < y.shape[1]: y[i, j] = …` every invocation inside of `y` stores its own
element. Where the grid covers `y`, all of it is written: it need not be zeros before. In
`if i > 0 and i < y.shape[0] - 1: …` the edges must be, and no more. That holds if nothing reads the
buffer, if the store is at the invocation's own position, and if all that stands between an
invocation and its store are comparisons of its position with extents and numbers. A store to each
part of an axis, `y[i, 0] = …`, `y[i, 1] = …`, `y[2 * i] = …`, `y[2 * i + 1] = …`, is as good, and
so is one in each round of a loop, `for c in range(y.shape[2]): y[i, j, c] = …`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from vyre.front.parameters import SHAPE
from vyre.front.places import WORDS, Places, Scope, extent_of, place_of, places_of, without_casts
from vyre.front.written import SAFE_EXTENT, Along, At, Extent, Filled, Limit, Place
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
    Break,
    BufferAccess,
    BufferDecl,
    Builtin,
    BuiltinKind,
    Cast,
    Continue,
    Expr,
    If,
    IndirectDispatch,
    Let,
    Lit,
    Load,
    Loop,
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

MOST_ROUNDS = 64
"""Rounds of loops that are looked at one by one."""


def filled_buffers(program: Program) -> dict[str, Filled]:
    """The buffers of a program that are written from one end to the other; found out once."""
    return program.memo("front.filled", _find_filled)


def _find_filled(program: Program) -> dict[str, Filled]:
    seen: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (AsyncLoad, AsyncStore, IndirectDispatch)):
            return {}
        for child in expr_children(statement):
            seen |= {n.buffer for n in walk_expr(child) if isinstance(n, (Load, Atomic))}
    numbers = frozenset(d.name for d in program.buffers if _is_number(d))
    assigned = {s.name for s in walk_stmts(program.entry) if isinstance(s, Assign)}
    search = _Search(assigned, seen, numbers)
    search.visit(program.entry, ())
    return search.found


def _is_number(decl: BufferDecl) -> bool:
    """Whether a buffer is a word that the kernel is given."""
    uniform = decl.access is BufferAccess.UNIFORM and not decl.name.endswith(SHAPE)
    return uniform and decl.count == 1 and decl.element in WORDS


@dataclass(slots=True)
class _Search:
    assigned: set[str]
    read: set[str]
    numbers: frozenset[str]
    found: dict[str, Filled] = field(default_factory=dict[str, Filled])
    rounds: int = 1
    """How often statements are looked at."""
    _values: dict[str, AnyExpr] = field(default_factory=dict[str, AnyExpr])
    _counters: dict[str, Extent] = field(default_factory=dict[str, Extent])

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
                    more = self._limits(self._written(Unary(UnOp.NOT, cond)))
                    if more is not None:
                        self.visit(body[position + 1 :], limits + more)
                    return False
                case _:
                    if _leaves(statement):
                        return False
                    self._inner(statement, limits)
        return True

    def _inner(self, statement: AnyStmt, limits: tuple[Limit, ...]) -> None:
        """Look at a statement that invocations do not leave the kernel in."""
        match statement:
            case If(cond, then, ()):
                more = self._limits(self._written(cond))
                if more is not None:
                    self.visit(then, limits + more)
            case If(_, then, otherwise):
                self._either(then, otherwise, limits)
            case Loop() if not _skips(statement):
                self._loop(statement, limits)
            case Store():
                self._store(statement, limits)
            case _:
                pass

    def _either(self, then: Body, otherwise: Body, limits: tuple[Limit, ...]) -> None:
        """Look at statements of which some or the others run: both have to write."""
        outer, arms = self.found, list[dict[str, Filled]]()
        for body in (then, otherwise):
            self.found = {}
            self.visit(body, limits)
            arms.append(self.found)
        self.found = outer
        for name, one in arms[0].items():
            other = arms[1].get(name)
            if other is not None and (one.places, one.sizes) == (other.places, other.sizes):
                both = tuple(dict.fromkeys(one.limits + other.limits))
                made = Filled(one.places, one.sizes, both, one.parts & other.parts)
                outer.setdefault(name, made)

    def _loop(self, loop: Loop, limits: tuple[Limit, ...]) -> None:
        """Look at all rounds of a loop: each for itself where they are a few, else as one."""
        start, stop = self._written(loop.start), self._written(loop.stop)
        if not isinstance(start, Lit) or start.dtype not in WORDS or int(start.value) != 0:
            return
        extent = extent_of(stop, self.numbers)
        if isinstance(stop, Lit) and 0 < int(stop.value) * self.rounds <= MOST_ROUNDS:
            outer, self.rounds = self.rounds, self.rounds * int(stop.value)
            for number in range(int(stop.value)):
                self._values[loop.var] = Lit(start.dtype, number)
                self.visit(loop.body, limits)
            del self._values[loop.var]
            self.rounds = outer
        elif extent is not None:
            self._counters[loop.var] = extent
            self.visit(loop.body, limits)
            del self._counters[loop.var]

    def _store(self, store: Store, limits: tuple[Limit, ...]) -> None:
        buffer, index = store.buffer, self._written(store.index)
        cond = None
        if isinstance(index, Select):
            cond, index = index.cond, index.if_true
        scope = Scope(self._counters, self.numbers)
        found = places_of(index, scope)
        if found is None or buffer in self.read or not _has_shape(found, buffer):
            return
        if cond is not None:
            # An element that is not there needs not be written.
            more = self._limits(cond, (buffer, found.along))
            if more is None:
                return
            limits += more
        along = tuple(At(0) if isinstance(place, At) else place for place in found.along)
        part = tuple(place.number for place in found.along if isinstance(place, At))
        made = Filled(along, found.sizes, tuple(dict.fromkeys(limits)), frozenset((part,)))
        known = self.found.setdefault(buffer, made)
        if (known.places, known.sizes) == (made.places, made.sizes):
            both = tuple(dict.fromkeys(known.limits + made.limits))
            self.found[buffer] = Filled(along, found.sizes, both, known.parts | made.parts)

    def _limits(
        self, cond: AnyExpr, stored: tuple[str, tuple[Place, ...]] | None = None
    ) -> tuple[Limit, ...] | None:
        """A condition as limits of positions; None if it asks for more.

        That places which are `stored` to are there needs not be asked.
        """
        compared = _comparisons(cond, negated=False)
        found: list[Limit] = []
        for one in compared or ():
            if stored is not None and self._is_granted(one, *stored):
                continue
            limit = _limit(*one, self.numbers)
            if limit is None:
                return None
            found.append(limit)
        return None if compared is None else tuple(found)

    def _is_granted(self, compared: _Compared, buffer: str, along: tuple[Place, ...]) -> bool:
        """Whether a comparison asks if a place that no position tells is in the buffer."""
        op, left, right = compared
        end = extent_of(right, self.numbers)
        if op is not BinOp.LT or end is None or end[0] != buffer:
            return False
        place = place_of(left, Scope(self._counters, self.numbers))
        asked = along[end[1]] if 0 <= end[1] < len(along) else None
        return place is not None and place == asked and not isinstance(place, Along)

    def _written(self, expr: AnyExpr) -> AnyExpr:
        return expanded(expr, self._values)


def _has_shape(places: Places, buffer: str) -> bool:
    """Whether extents of the buffer itself are those that it has along the axes of places."""
    own = [size for size in places.sizes if isinstance(size, tuple) and size[0] == buffer]
    return not own or own == [(buffer, axis + 1) for axis in range(len(places.sizes))]


def expanded(expr: AnyExpr, values: Mapping[str, AnyExpr]) -> AnyExpr:
    """An expression with the values of variables in their place."""

    def one(node: AnyExpr) -> AnyExpr:
        return values.get(node.name, node) if isinstance(node, Var) else node

    return rewrite_expr(expr, one)


def own_rank(index: AnyExpr, buffer: str) -> int:
    """How many axes a buffer has of which an index is the invocation's own position; or 0."""
    return next((rank for rank in (1, 2, 3) if index == _own(buffer, rank)), 0)


def limits_of(cond: AnyExpr) -> tuple[Limit, ...] | None:
    """A condition that only compares positions with extents and numbers as limits of these."""
    compared = _comparisons(cond, negated=False)
    found = [_limit(*one, frozenset()) for one in compared or ()]
    limits = tuple(limit for limit in found if limit is not None)
    return None if compared is None or len(limits) < len(found) else limits


def conditions(cond: AnyExpr) -> list[AnyExpr]:
    """What all must hold for a condition to."""
    match cond:
        case Binary(BinOp.AND, left, right):
            return conditions(left) + conditions(right)
        case _:
            return [cond]


_FARTHEST = 1 << 16
_Compared = tuple[BinOp, AnyExpr, AnyExpr]
_NEGATED = {BinOp.LT: BinOp.GE, BinOp.GE: BinOp.LT, BinOp.GT: BinOp.LE, BinOp.LE: BinOp.GT}
_MIRRORED = {BinOp.LT: BinOp.GT, BinOp.GE: BinOp.LE, BinOp.GT: BinOp.LT, BinOp.LE: BinOp.GE}


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


def _limit(op: BinOp, left: AnyExpr, right: AnyExpr, numbers: frozenset[str]) -> Limit | None:
    """A comparison of a position with an extent or with a number."""
    place = _position(left)
    if place is None:
        place, right = _position(right), left
        op = _MIRRORED.get(op, op)
    if place is None:
        return None
    axis, moved = place
    if isinstance(right, Lit) and right.dtype in WORDS:
        least = int(right.value) - moved + (op is not BinOp.GE)
        if op is BinOp.NE:
            # All but the first position, or what is more than that.
            return Limit(axis, max(least, 0)) if least == 1 else None
        return Limit(axis, max(least, 0)) if op in (BinOp.GT, BinOp.GE) else None
    end = _end(right, numbers)
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
        case Cast(value, dtype) if dtype in WORDS:
            return _position(value)
        case Binary(BinOp.ADD | BinOp.SUB as op, left, Lit() as right):
            inner, number = _position(left), _small(right)
            if inner is None or number is None:
                return None
            return inner[0], inner[1] + (number if op is BinOp.ADD else -number)
        case _:
            return None


def _end(expr: AnyExpr, numbers: frozenset[str]) -> tuple[Extent, int] | None:
    """An extent with a number taken off."""
    expr = without_casts(expr, numbers)
    extent = extent_of(expr, numbers)
    if extent is not None:
        return extent, 0
    match expr:
        case Binary(BinOp.SUB, left, Lit() as right):
            inner, number = _end(left, numbers), _small(right)
            return None if inner is None or number is None else (inner[0], inner[1] + number)
        case _:
            return None


def _small(literal: Lit) -> int | None:
    """A number that may be added to positions."""
    if literal.dtype not in WORDS:
        return None
    value = int(literal.value)
    return value if 0 <= value <= _FARTHEST else None


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


def _skips(loop: Loop) -> bool:
    """Whether rounds of a loop, or the rest of one, may not run."""
    return any(isinstance(s, (Return, Break, Continue)) for s in walk_stmts(loop.body))


__all__ = [
    "SAFE_EXTENT",
    "Filled",
    "Limit",
    "conditions",
    "expanded",
    "filled_buffers",
    "limits_of",
    "own_rank",
]
