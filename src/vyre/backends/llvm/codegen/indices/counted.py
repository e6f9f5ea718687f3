"""Accesses at a loop's counter: one test before the loop in place of one per round.

Lanes that run one by one have loops with bounds of their own, as in `for e in starts[node]..starts[
node + 1] { … targets[e] … }`. Where such a loop ends inside the buffers, it runs without tests.
The same holds for places that follow the counter, upwards or downwards, from a place that stays, as
in `out[begin + k] = text[end - 1 - k]`: the first and the last round tell for all between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.codegen.choosing.large import is_large
from vyre.backends.llvm.codegen.value import uniform
from vyre.ir import (
    AnyExpr,
    Assign,
    Atomic,
    Binary,
    BinOp,
    Builtin,
    DataType,
    Let,
    Lit,
    Load,
    Loop,
    Store,
    Var,
    While,
)
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.codegen.expressions.lanes import Lanes
    from vyre.backends.llvm.codegen.value import Value

MOST_NODES = 128
"""Expressions in a loop that is written twice."""
MOST_OFFSET = 1 << 20
MOST_FOLLOWING = 4
"""Places besides the counter's own that are worth a test before the loop."""


@dataclass(frozen=True, slots=True)
class AtCounter:
    """Accesses of a loop at its counter, or a constant after it."""

    ends: dict[str, int]
    """For every buffer, how far after the counter."""
    following: dict[tuple[str, AnyExpr], bool]
    """Buffers and indices that follow the counter otherwise, and whether they rise with it."""
    accesses: frozenset[int]


def at_counter(lanes: Lanes, loop: Loop, counter: DataType) -> AtCounter | None:
    """The accesses that one test before an innermost loop proves; None if it is not worth it."""
    if lanes.width or not lanes.branches or lanes.kernel.unchecked:
        return None
    if is_large(lanes.kernel.program):
        return None
    if counter is not DataType.U32:
        return None
    ends: dict[str, int] = {}
    following: dict[tuple[str, AnyExpr], bool] = {}
    found: set[int] = set()
    stays = _Stays(lanes, loop)
    nodes = 0
    for statement in walk_stmts(loop.body):
        if isinstance(statement, (Loop, While)):
            return None
        inner = [node for child in expr_children(statement) for node in walk_expr(child)]
        nodes += len(inner)
        accesses = [node for node in inner if isinstance(node, (Load, Atomic))]
        for access in (*accesses, *([statement] if isinstance(statement, Store) else [])):
            if lanes.proven(access) or access.buffer in lanes.own:
                continue
            index = stays.expand(access.index)
            offset, step = _offset(index, loop.var), stays.step(index)
            if offset is not None:
                ends[access.buffer] = max(offset, ends.get(access.buffer, 0))
            elif step in (1, -1) and len(following) < MOST_FOLLOWING:
                following[access.buffer, index] = step > 0
            else:
                continue
            found.add(id(access))
    if not found or nodes > MOST_NODES:
        return None
    return AtCounter(ends, following, frozenset(found))


class _Stays:
    """What indices in a loop are made of: its counter, and what stays the same in all rounds."""

    def __init__(self, lanes: Lanes, loop: Loop) -> None:
        self._counter = loop.var
        self._types = lanes.kernel.types
        self._values: dict[str, AnyExpr] = {}
        self._changed: set[str] = set()
        for statement in walk_stmts(loop.body):
            if isinstance(statement, Let):
                self._values[statement.name] = statement.value
            elif isinstance(statement, Assign):
                self._changed.add(statement.name)

    def expand(self, index: AnyExpr) -> AnyExpr:
        """An index with what the loop binds written out, as far as it is a sum."""
        match index:
            case Var(name) if name in self._values and name not in self._changed:
                return self.expand(self._values[name])
            case Binary(BinOp.ADD | BinOp.SUB as op, left, right):
                return Binary(op, self.expand(left), self.expand(right))
            case _:
                return index

    def step(self, expr: AnyExpr) -> int | None:
        """By how much a number moves from round to round; None if it does so in other ways."""
        match expr:
            case Lit(dtype, _):
                return 0 if dtype is DataType.U32 else None
            case Builtin():
                return 0
            case Var(name):
                if name == self._counter:
                    return 1
                known = name not in self._values and name not in self._changed
                return 0 if known and self._types.get(name) is DataType.U32 else None
            case Binary(BinOp.ADD | BinOp.SUB as op, left, right):
                a, b = self.step(left), self.step(right)
                if a is None or b is None:
                    return None
                return a + b if op is BinOp.ADD else a - b
            case Binary(BinOp.MUL, left, right):
                return 0 if self.step(left) == 0 and self.step(right) == 0 else None
            case _:
                return None


def _offset(index: AnyExpr, counter: str) -> int | None:
    match index:
        case Var(name):
            return 0 if name == counter else None
        case Binary(BinOp.ADD, Var(name), Lit(_, bits)) if name == counter:
            return bits if bits <= MOST_OFFSET else None
        case _:
            return None


def emit_test(lanes: Lanes, loop: Loop, start: Value, stop: Value, found: AtCounter) -> str:
    """Whether a loop from `start` up to `stop` stays inside the buffers, an i1.

    Of one that has no rounds nothing needs to be true.
    """
    w = lanes.w
    holds = "true"
    end = w.emit(f"zext i32 {stop.text} to i64")
    for buffer, offset in found.ends.items():
        # The counter is less than `stop`, and an index of 32 bits must not wrap on the way.
        last = w.emit(f"add i64 {end}, {offset}") if offset else end
        count = w.intrinsic("umin", "i64", lanes.buffer(buffer).count, str(1 << 32))
        inside = w.emit(f"icmp ule i64 {last}, {count}")
        holds = w.emit(f"and i1 {holds}, {inside}")
    if not found.following:
        return holds
    final = uniform(stop.dtype, w.emit(f"sub i32 {stop.text}, 1"))
    for (buffer, index), rises in found.following.items():
        places: list[str] = []
        for count in (start, final):
            lanes.names[loop.var] = count
            places.append(lanes.value(index).text)
        least, greatest = places if rises else reversed(places)
        # Steps of one come by every number between: without the end of the type they are in order.
        ordered = w.emit(f"icmp ule i32 {least}, {greatest}")
        last = w.emit(f"zext i32 {greatest} to i64")
        inside = w.emit(f"icmp ult i64 {last}, {lanes.buffer(buffer).count}")
        both = w.emit(f"and i1 {ordered}, {inside}")
        holds = w.emit(f"and i1 {holds}, {both}")
    return holds
