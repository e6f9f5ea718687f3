"""The trees by which a workgroup joins the values of its invocations, through its memory.

The value of invocation i over the last 2**k ones up to it is

    S(0, i) = x(i)        S(k + 1, i) = S(k, i - 2**k) op S(k, i)    while i >= 2**k, else S(k, i)

A scan computes all of them (Hillis and Steele), one barrier for each k. A reduction wants that of
the last invocation: it joins neighbours, counted from the end, half as many in each step, in the
same order and with the same parentheses. So the operator need not be commutative, floats are
rounded alike on every device, and the reduction is the last element of the scan, bit for bit.

A step reads one part of the memory and writes another one, so a barrier for each is enough. After
the last one the memory is free for the next tree.

Operators on integers give the same bits in every order. Their reductions take fewer barriers:

    if lane < 16:  a = x[lane];  for k in 1..rows: a = a op x[16 * k + lane];  parts[lane] = a
    barrier
    if lane == 0:  a = parts[0];  for k in 1..16: a = a op parts[k];  result = a

The first loop loads neighbours in neighbouring lanes, so it runs in vectors on a processor, and
without conflicts of memory banks on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre import ir
from vyre.front.context import Context
from vyre.front.values import Scalar
from vyre.front.workgroup import barrier, invocations, lane
from vyre.record import dataclass

Values = Sequence[Scalar]
"""What one invocation gives: a number, or the members of a tuple."""
Join = Callable[[Values, Values], Values]

_COLUMNS = 16
"""Lanes that join columns: of 32 bits, a vector of 512 bits."""
_FEWEST = 4 * _COLUMNS
"""Invocations from which on columns have fewer steps than a tree has barriers."""


@dataclass(frozen=True, slots=True)
class _Slots:
    """Workgroup memory for what invocations give, an array for each member."""

    ctx: Context
    arrays: tuple[str, ...]
    held: tuple[ir.DataType, ...]
    """Types in memory, of at least 32 bits: devices have no narrower memory of their own."""
    dtypes: tuple[ir.DataType, ...]

    def put(self, place: ir.AnyExpr, values: Values) -> None:
        for array, held, value in zip(self.arrays, self.held, values, strict=True):
            self.ctx.emit(ir.Store(array, place, _converted(value.expr, value.dtype, held)))

    def get(self, place: ir.AnyExpr) -> list[Scalar]:
        found: list[Scalar] = []
        for array, held, dtype in zip(self.arrays, self.held, self.dtypes, strict=True):
            loaded = _converted(ir.Load(array, place), held, dtype)
            found.append(self.ctx.spill(Scalar(loaded, dtype), "part"))
        return found

    def copy(self, source: ir.AnyExpr, place: ir.AnyExpr) -> None:
        for array in self.arrays:
            self.ctx.emit(ir.Store(array, place, ir.Load(array, source)))


def _slots(ctx: Context, values: Values) -> _Slots:
    """Memory for the values; trees that follow one another use the same."""
    count = 2 * invocations(ctx) + invocations(ctx).bit_length()
    arrays: list[str] = []
    held = tuple(_held(value.dtype) for value in values)
    for member, dtype in enumerate(held):
        # No name in Python has a dot.
        name = f"group.{member}.{dtype}"
        if all(decl.name != name for decl in ctx.buffers):
            ctx.buffers.append(ir.BufferDecl.workgroup(name, count, dtype))
        arrays.append(name)
    return _Slots(ctx, tuple(arrays), held, tuple(value.dtype for value in values))


def _held(dtype: ir.DataType) -> ir.DataType:
    if dtype.is_float:
        return dtype if (dtype.bits or 0) >= 32 else ir.DataType.F32
    if dtype.is_integer and (dtype.bits or 0) >= 32:
        return dtype
    return ir.DataType.I32 if dtype.is_integer and dtype.is_signed else ir.DataType.U32


def _converted(expr: ir.AnyExpr, found: ir.DataType, wanted: ir.DataType) -> ir.AnyExpr:
    return expr if found is wanted else ir.Cast(expr, wanted)


def _number(value: int) -> ir.AnyExpr:
    return ir.Expr.u32(value)


def _binary(op: ir.BinOp, left: ir.AnyExpr, right: ir.AnyExpr) -> ir.AnyExpr:
    return ir.Binary(op, left, right)


def _past(first: int, place: ir.AnyExpr) -> ir.AnyExpr:
    return place if first == 0 else _binary(ir.BinOp.ADD, place, _number(first))


def _branch(
    ctx: Context,
    condition: ir.AnyExpr,
    then: Callable[[], None],
    otherwise: Callable[[], None] | None = None,
) -> None:
    arms: list[tuple[ir.AnyStmt, ...]] = []
    for arm in (then, otherwise):
        with ctx.block() as body:
            if arm is not None:
                arm()
        arms.append(tuple(body))
    ctx.emit(ir.If(condition, *arms))


def joined(ctx: Context, values: Values, join: Join, *, in_any_order: bool) -> Values:
    """The values of all invocations, joined; the workgroup agrees on the result."""
    width = invocations(ctx)
    if width == 1:
        return values
    if in_any_order and width >= _FEWEST:
        return _joined_by_columns(ctx, values, join)
    slots, own = _slots(ctx, values), lane(ctx)
    slots.put(_binary(ir.BinOp.SUB, _number(width - 1), own), values)
    barrier(ctx)
    first = 0
    while width > 1:
        pairs, rest = divmod(width, 2)
        _join_neighbours(ctx, slots, join, first, width)
        first, width = first + width, pairs + rest
    found = slots.get(_number(first))
    barrier(ctx)
    return found


def _joined_by_columns(ctx: Context, values: Values, join: Join) -> Values:
    slots, own, count = _slots(ctx, values), lane(ctx), invocations(ctx)
    slots.put(own, values)
    barrier(ctx)
    rows, rest = divmod(count, _COLUMNS)

    def join_column() -> None:
        joining = _Joining(ctx, slots, join, slots.get(own)[0])
        joining.go_on(1, rows, lambda row: _binary(ir.BinOp.ADD, own, _times(row, _COLUMNS)))
        if rest:
            is_longer = _binary(ir.BinOp.LT, own, _number(rest))
            _branch(ctx, is_longer, lambda: joining.add(_past(rows * _COLUMNS, own)))
        slots.put(_past(count, own), [joining.value])

    def join_columns() -> None:
        joining = _Joining(ctx, slots, join, slots.get(_number(count))[0])
        joining.go_on(1, _COLUMNS, lambda column: _past(count, column))
        slots.put(_number(count + _COLUMNS), [joining.value])

    _branch(ctx, _binary(ir.BinOp.LT, own, _number(_COLUMNS)), join_column)
    barrier(ctx)
    _branch(ctx, _binary(ir.BinOp.EQ, own, _number(0)), join_columns)
    barrier(ctx)
    found = slots.get(_number(count + _COLUMNS))
    barrier(ctx)
    return found


def _times(value: ir.AnyExpr, factor: int) -> ir.AnyExpr:
    return _binary(ir.BinOp.MUL, value, _number(factor))


class _Joining:
    """A variable that one invocation joins values with, one after the other."""

    def __init__(self, ctx: Context, slots: _Slots, join: Join, first: Scalar) -> None:
        self._ctx, self._slots, self._join = ctx, slots, join
        name = ctx.fresh("joined")
        ctx.emit(ir.Let(name, first.expr))
        self.value = Scalar(ir.Var(name), first.dtype)
        self._name = name

    def add(self, place: ir.AnyExpr) -> None:
        """Join with the value at a place."""
        (found,) = self._join([self.value], self._slots.get(place))
        self._ctx.emit(ir.Assign(self._name, found.expr))

    def go_on(self, start: int, stop: int, place: Callable[[ir.AnyExpr], ir.AnyExpr]) -> None:
        """Join with the values at the places of some numbers."""
        counter = self._ctx.fresh("k")
        with self._ctx.block() as body:
            self.add(place(ir.Var(counter)))
        self._ctx.emit(ir.Loop(counter, _number(start), _number(stop), tuple(body)))


def _join_neighbours(ctx: Context, slots: _Slots, join: Join, first: int, width: int) -> None:
    """`width` values from the place `first` on become half as many, behind them."""
    own, pairs = lane(ctx), width // 2
    twice = _binary(ir.BinOp.MUL, own, _number(2))

    def join_two() -> None:
        left = slots.get(_past(first + 1, twice))
        right = slots.get(_past(first, twice))
        slots.put(_past(first + width, own), join(left, right))

    _branch(ctx, _binary(ir.BinOp.LT, own, _number(pairs)), join_two)
    if width % 2:
        alone, place = _number(first + width - 1), _number(first + width + pairs)
        is_next = _binary(ir.BinOp.EQ, own, _number(pairs))
        _branch(ctx, is_next, lambda: slots.copy(alone, place))
    barrier(ctx)


@dataclass(frozen=True, slots=True)
class Scanned:
    """A scan in memory; the results are taken out, then the workgroup goes on."""

    slots: _Slots
    first: int
    """The place of the result of the first invocation."""

    def own(self) -> Values:
        """The result up to this invocation."""
        return self.slots.get(_past(self.first, lane(self.slots.ctx)))

    def before(self, identity: Values) -> Values:
        """The result of the invocation before; of the first one the identity."""
        ctx = self.slots.ctx
        own = lane(ctx)
        previous = self.slots.get(_binary(ir.BinOp.SUB, _past(self.first, own), _number(1)))
        is_first = _binary(ir.BinOp.EQ, own, _number(0))
        return [
            ctx.spill(Scalar(ir.Select(is_first, none.expr, found.expr), found.dtype), "before")
            for none, found in zip(identity, previous, strict=True)
        ]

    def total(self) -> Values:
        """The result of the last invocation, on which the workgroup agrees."""
        return self.slots.get(_number(self.first + invocations(self.slots.ctx) - 1))


def scanned(ctx: Context, values: Values, join: Join) -> Scanned:
    """All values up to each invocation, joined; a barrier has to follow what is taken out."""
    slots, own, count = _slots(ctx, values), lane(ctx), invocations(ctx)
    slots.put(own, values)
    barrier(ctx)
    here, there, reach = 0, count, 1
    while reach < count:
        _join_reached(ctx, slots, join, (here, there), reach)
        here, there, reach = there, here, 2 * reach
    return Scanned(slots, here)


def _join_reached(
    ctx: Context, slots: _Slots, join: Join, places: tuple[int, int], reach: int
) -> None:
    """Join each value with the one that many invocations before it."""
    own, (here, there) = lane(ctx), places

    def join_two() -> None:
        left = slots.get(_binary(ir.BinOp.SUB, _past(here, own), _number(reach)))
        right = slots.get(_past(here, own))
        slots.put(_past(there, own), join(left, right))

    def keep() -> None:
        slots.copy(_past(here, own), _past(there, own))

    _branch(ctx, _binary(ir.BinOp.GE, own, _number(reach)), join_two, keep)
    barrier(ctx)
