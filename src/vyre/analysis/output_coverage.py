"""Outputs that are fully overwritten, possibly except a border, so that zeroing them is dead.

In `if i < y.shape[0] and j < y.shape[1]: y[i, j] = …` every invocation inside `y` stores its own
element: where the grid covers `y`, zero-initialising `y` is a dead store. In
`if i > 0 and i < y.shape[0] - 1: …` only the border has to be zeroed.

A buffer is reported when
- no load or atomic reads it;
- each store is at the invocation's own position (see `delinearisation`), at constants along further
  axes (`y[i, 0]`, `y[i, 1]`; `y[2 * i]`, `y[2 * i + 1]`), or at the counter of a loop over an axis
  (`for c in range(y.shape[2]): y[i, j, c] = …`);
- every guard of a store compares the position with extents and constants only.

The analysis errs towards leaving a buffer out: the runtime then zeroes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from vyre import ir
from vyre.analysis.coverage_types import COVERAGE, Along, At, Coverage, Extent, Limit, Subscript
from vyre.analysis.delinearisation import (
    WORDS,
    Scope,
    Subscripts,
    delinearise,
    extent_of,
    subscript_of,
    without_casts,
)
from vyre.ir.buffer import SHAPE
from vyre.ir.opcodes import MIRRORED, NEGATED
from vyre.ir.walk import assigned_names, expr_children, rewrite_expr, walk_expr, walk_stmts
from vyre.record import dataclass

MAX_UNROLLED = 64
"""Loop iterations, of nested loops multiplied, that are analysed one by one."""


def output_coverage(program: ir.Program) -> dict[str, Coverage]:
    """The coverage of each output for which it is known; computed once per program."""
    return program.memo(COVERAGE, _find_coverage)


def _find_coverage(program: ir.Program) -> dict[str, Coverage]:
    seen: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (ir.AsyncLoad, ir.AsyncStore, ir.IndirectDispatch)):
            return {}
        for child in expr_children(statement):
            seen |= {n.buffer for n in walk_expr(child) if isinstance(n, (ir.Load, ir.Atomic))}
    numbers = frozenset(d.name for d in program.buffers if _is_number(d))
    assigned = assigned_names(program.entry)
    search = _Search(assigned, seen, numbers)
    search.visit(program.entry, ())
    return search.found


def _is_number(decl: ir.BufferDecl) -> bool:
    """True if a buffer is a 32-bit scalar parameter."""
    uniform = decl.access is ir.BufferAccess.UNIFORM and not decl.name.endswith(SHAPE)
    return uniform and decl.count == 1 and decl.element in WORDS


@dataclass(slots=True)
class _Search:
    """One walk over the program, with the values of variables substituted."""

    assigned: frozenset[str]
    read: set[str]
    numbers: frozenset[str]
    found: dict[str, Coverage] = field(default_factory=dict[str, Coverage])
    iterations: int = 1
    """How many iterations of unrolled loops are being analysed."""
    _values: dict[str, ir.AnyExpr] = field(default_factory=dict[str, ir.AnyExpr])
    _counters: dict[str, Extent] = field(default_factory=dict[str, Extent])

    def visit(self, body: ir.Body, limits: tuple[Limit, ...]) -> bool:
        """Visit statements under guards; True if the statements after `body` are still reached."""
        for position, statement in enumerate(body):
            match statement:
                case ir.Let(name, value):
                    if name not in self.assigned:
                        self._values[name] = self._written(value)
                case ir.Block(inner) | ir.Region(_, _, inner):
                    if not self.visit(inner, limits):
                        return False
                case ir.If(cond, (ir.Return(),), ()):
                    more = self._limits(self._written(ir.Unary(ir.UnOp.NOT, cond)))
                    if more is not None:
                        self.visit(body[position + 1 :], limits + more)
                    return False
                case _:
                    if _leaves(statement):
                        return False
                    self._inner(statement, limits)
        return True

    def _inner(self, statement: ir.AnyStmt, limits: tuple[Limit, ...]) -> None:
        """Visit a statement that contains no return."""
        match statement:
            case ir.If(cond, then, ()):
                more = self._limits(self._written(cond))
                if more is not None:
                    self.visit(then, limits + more)
            case ir.If(_, then, otherwise):
                self._either(then, otherwise, limits)
            case ir.Loop() if not _skips(statement):
                self._loop(statement, limits)
            case ir.Store():
                self._store(statement, limits)
            case _:
                pass

    def _either(self, then: ir.Body, otherwise: ir.Body, limits: tuple[Limit, ...]) -> None:
        """Visit both arms of a conditional: a buffer is covered if both cover the same elements."""
        outer, arms = self.found, list[dict[str, Coverage]]()
        for body in (then, otherwise):
            self.found = {}
            self.visit(body, limits)
            arms.append(self.found)
        self.found = outer
        for name, one in arms[0].items():
            other = arms[1].get(name)
            if other is not None and (one.places, one.sizes) == (other.places, other.sizes):
                both = tuple(dict.fromkeys(one.limits + other.limits))
                made = Coverage(one.places, one.sizes, both, one.parts & other.parts)
                outer.setdefault(name, made)

    def _loop(self, loop: ir.Loop, limits: tuple[Limit, ...]) -> None:
        """Visit a loop from 0: unrolled if its trip count is small, else symbolically."""
        start, stop = self._written(loop.start), self._written(loop.stop)
        if not isinstance(start, ir.Lit) or start.dtype not in WORDS or int(start.value) != 0:
            return
        extent = extent_of(stop, self.numbers)
        if isinstance(stop, ir.Lit) and 0 < int(stop.value) * self.iterations <= MAX_UNROLLED:
            outer, self.iterations = self.iterations, self.iterations * int(stop.value)
            for number in range(int(stop.value)):
                self._values[loop.var] = ir.Lit(start.dtype, number)
                self.visit(loop.body, limits)
            del self._values[loop.var]
            self.iterations = outer
        elif extent is not None:
            self._counters[loop.var] = extent
            self.visit(loop.body, limits)
            del self._counters[loop.var]

    def _store(self, store: ir.Store, limits: tuple[Limit, ...]) -> None:
        buffer, index = store.buffer, self._written(store.index)
        cond = None
        if isinstance(index, ir.Select):
            cond, index = index.cond, index.if_true
        scope = Scope(self._counters, self.numbers)
        found = delinearise(index, scope)
        if found is None or buffer in self.read or not _has_shape(found, buffer):
            return
        if cond is not None:
            # The guard of an out-of-bounds index: an element that does not exist is not stored.
            more = self._limits(cond, (buffer, found.along))
            if more is None:
                return
            limits += more
        along = tuple(At(0) if isinstance(place, At) else place for place in found.along)
        part = tuple(place.number for place in found.along if isinstance(place, At))
        made = Coverage(along, found.sizes, tuple(dict.fromkeys(limits)), frozenset((part,)))
        known = self.found.setdefault(buffer, made)
        if (known.places, known.sizes) == (made.places, made.sizes):
            both = tuple(dict.fromkeys(known.limits + made.limits))
            self.found[buffer] = Coverage(along, found.sizes, both, known.parts | made.parts)

    def _limits(
        self, cond: ir.AnyExpr, stored: tuple[str, tuple[Subscript, ...]] | None = None
    ) -> tuple[Limit, ...] | None:
        """A condition as guards of positions; None if it has other conjuncts.

        Bounds checks of the subscripts that are `stored` to are left out.
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

    def _is_granted(self, compared: _Compared, buffer: str, along: tuple[Subscript, ...]) -> bool:
        """True if a comparison is the bounds check of a constant or counter subscript."""
        op, left, right = compared
        end = extent_of(right, self.numbers)
        if op is not ir.BinOp.LT or end is None or end[0] != buffer:
            return False
        place = subscript_of(left, Scope(self._counters, self.numbers))
        asked = along[end[1]] if 0 <= end[1] < len(along) else None
        return place is not None and place == asked and not isinstance(place, Along)

    def _written(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        return expanded(expr, self._values)


def _has_shape(places: Subscripts, buffer: str) -> bool:
    """True if extents of the buffer itself are used in the order of its axes."""
    own = [size for size in places.sizes if isinstance(size, tuple) and size[0] == buffer]
    return not own or own == [(buffer, axis + 1) for axis in range(len(places.sizes))]


def expanded(expr: ir.AnyExpr, values: Mapping[str, ir.AnyExpr]) -> ir.AnyExpr:
    """Substitute the values of variables."""

    def one(node: ir.AnyExpr) -> ir.AnyExpr:
        return values.get(node.name, node) if isinstance(node, ir.Var) else node

    return rewrite_expr(expr, one)


def own_rank(index: ir.AnyExpr, buffer: str) -> int:
    """The rank for which an index is the invocation's own row-major position; 0 if none."""
    return next((rank for rank in (1, 2, 3) if index == _own(buffer, rank)), 0)


def limits_of(cond: ir.AnyExpr) -> tuple[Limit, ...] | None:
    """A condition as guards of positions; None if it has other conjuncts."""
    compared = _comparisons(cond, negated=False)
    found = [_limit(*one, frozenset()) for one in compared or ()]
    limits = tuple(limit for limit in found if limit is not None)
    return None if compared is None or len(limits) < len(found) else limits


def conjuncts(cond: ir.AnyExpr) -> list[ir.AnyExpr]:
    """The conjuncts of a condition."""
    match cond:
        case ir.Binary(ir.BinOp.AND, left, right):
            return conjuncts(left) + conjuncts(right)
        case _:
            return [cond]


_LARGEST_OFFSET = 1 << 16
_Compared = tuple[ir.BinOp, ir.AnyExpr, ir.AnyExpr]


def _comparisons(cond: ir.AnyExpr, *, negated: bool) -> list[_Compared] | None:
    """A condition (or its negation) as a conjunction of comparisons; None if it is none."""
    match cond:
        case ir.Unary(ir.UnOp.NOT, operand):
            return _comparisons(operand, negated=not negated)
        case ir.Binary(op, left, right) if op is (ir.BinOp.OR if negated else ir.BinOp.AND):
            both = [_comparisons(side, negated=negated) for side in (left, right)]
            if both[0] is None or both[1] is None:
                return None
            return both[0] + both[1]
        case ir.Binary(op, left, right) if op in NEGATED:
            op = NEGATED[op] if negated else op
            return None if op is ir.BinOp.EQ else [(op, left, right)]
        case _:
            return None


def _limit(
    op: ir.BinOp, left: ir.AnyExpr, right: ir.AnyExpr, numbers: frozenset[str]
) -> Limit | None:
    """A comparison of a position with an extent or a constant as a guard."""
    place = _position(left)
    if place is None:
        place, right = _position(right), left
        op = MIRRORED[op]
    if place is None:
        return None
    axis, moved = place
    if isinstance(right, ir.Lit) and right.dtype in WORDS:
        least = int(right.value) - moved + (op is not ir.BinOp.GE)
        if op is ir.BinOp.NE:
            # `id != 0` is `id >= 1`.
            return Limit(axis, max(least, 0)) if least == 1 else None
        return Limit(axis, max(least, 0)) if op in (ir.BinOp.GT, ir.BinOp.GE) else None
    end = _end(right, numbers)
    if end is None or op not in (ir.BinOp.LT, ir.BinOp.LE):
        return None
    extent, margin = end
    # `id - c` wraps around for the first `c` positions.
    return Limit(axis, max(-moved, 0), extent, max(margin + moved - (op is ir.BinOp.LE), 0))


def _position(expr: ir.AnyExpr) -> tuple[int, int] | None:
    """Match `id + constant`: the axis of the grid, and the constant."""
    match expr:
        case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis):
            return axis, 0
        case ir.Cast(value, dtype) if dtype in WORDS:
            return _position(value)
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, ir.Lit() as right):
            inner, number = _position(left), _small(right)
            if inner is None or number is None:
                return None
            return inner[0], inner[1] + (number if op is ir.BinOp.ADD else -number)
        case _:
            return None


def _end(expr: ir.AnyExpr, numbers: frozenset[str]) -> tuple[Extent, int] | None:
    """Match `extent - constant`."""
    expr = without_casts(expr, numbers)
    extent = extent_of(expr, numbers)
    if extent is not None:
        return extent, 0
    match expr:
        case ir.Binary(ir.BinOp.SUB, left, ir.Lit() as right):
            inner, number = _end(left, numbers), _small(right)
            return None if inner is None or number is None else (inner[0], inner[1] + number)
        case _:
            return None


def _small(literal: ir.Lit) -> int | None:
    """A constant that is small enough to be added to a position without overflow."""
    if literal.dtype not in WORDS:
        return None
    value = int(literal.value)
    return value if 0 <= value <= _LARGEST_OFFSET else None


def _own(buffer: str, rank: int) -> ir.AnyExpr:
    """The row-major index of the invocation's own position in a buffer of some rank."""
    own: ir.AnyExpr = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, rank - 1)
    for axis in range(1, rank):
        extent = ir.Load(buffer + SHAPE, ir.Expr.u32(axis))
        along = ir.Builtin(ir.BuiltinKind.GLOBAL_ID, rank - 1 - axis)
        own = ir.Binary(ir.BinOp.ADD, ir.Binary(ir.BinOp.MUL, own, extent), along)
    return own


def _leaves(statement: ir.AnyStmt) -> bool:
    """True if a statement contains a return."""
    return any(isinstance(inner, ir.Return) for inner in walk_stmts((statement,)))


def _skips(loop: ir.Loop) -> bool:
    """True if iterations of a loop, or parts of them, may be skipped."""
    return any(isinstance(s, (ir.Return, ir.Break, ir.Continue)) for s in walk_stmts(loop.body))


__all__ = [
    "conjuncts",
    "expanded",
    "limits_of",
    "output_coverage",
    "own_rank",
]
