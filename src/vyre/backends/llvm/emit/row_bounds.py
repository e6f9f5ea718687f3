"""Steady-state bounds of a row, computed at run time.

Once per row, the code computes which lanes run in vectors and which run at all. It evaluates the
peeled conditions at the first lane of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.backends.llvm.analysis.delinearise import Period
from vyre.backends.llvm.analysis.range_checks import Assumption, SteadyState, assumption_of
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.range_expander import LoopRange, RangeExpander, all_of, word_range
from vyre.backends.llvm.emit.values import Value
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir import AnyExpr, Binary, BinOp, BufLen, DataType
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct

_ANY_ROOM = 1 << 32
"""Number of lanes that no row reaches: the access does not limit the vectors."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Lane bounds of a row: `start` to `end` run, `low` to `high` of them in vectors.

    All operands are i32; lanes outside `low` to `high` run one by one.
    """

    start: str
    low: str
    high: str
    end: str
    line: str = ""
    """End of the period that begins at `start`; empty if nothing is periodic."""


def emit_limits(
    peeling: RowPartition, kernel: Kernel, view: Callable[[str], LaneContext], length: str
) -> Limits:
    """Emit which lanes of a row run, and which in vectors.

    The row has `length` lanes; `view(x)` is the context of the lane at an index of the row.
    """
    w = kernel.w
    first = view("0")
    low, high, end = "0", length, length
    for part, ends in zip(peeling.parts, peeling.ends, strict=True):
        w.breathe()
        span = _part_span(kernel, first, part, length, peeling.forms.may_wrap(part.left))
        low = w.intrinsic("umax", "i32", low, span[0]) if low != "0" else span[0]
        high = w.intrinsic("umin", "i32", high, span[1])
        if ends:
            end = w.intrinsic("umin", "i32", end, span[2])
    for cond in peeling.rows:
        holds = first.value(cond).text
        high = w.emit(f"select i1 {holds}, i32 {high}, i32 0")
        end = w.emit(f"select i1 {holds}, i32 {end}, i32 0")
    end = end if peeling.narrowed else length
    if peeling.interior.periods:
        return Limits(low, low, high, end)
    return emit_steady_bounds(peeling, kernel, view, Limits(low, low, high, end))


def emit_steady_bounds(
    peeling: RowPartition, kernel: Kernel, view: Callable[[str], LaneContext], limits: Limits
) -> Limits:
    """Emit the range of lanes for which all assumptions hold.

    It begins at `start` or later.
    """
    w = kernel.w
    start, low, high = limits.start, limits.start, limits.high
    at_low, line = view(low), ""
    if peeling.has_edges:
        inner = peeling.interior
        room = w.intrinsic("usub.sat", "i32", high, start)
        steady = SteadyState(kernel, at_low, inner.forms, inner.loops, room)
        peeling.periods.clear()
        for period in inner.periods.values():
            peeling.periods[period.name] = _emit_period(kernel, steady, at_low, period)
            at_low.names.update(peeling.periods)
        line = w.emit(f"add i32 {start}, {steady.high}") if inner.periods else ""
        flags = _Flags(at_low, peeling.rows)
        for assumption, under in inner.assumptions.items():
            w.breathe()
            steady.require(assumption, flags.of(under))
        if steady.low != "0":
            low = w.emit(f"add i32 {start}, {steady.low}")
            at_low = view(low)
        high = w.emit(f"add i32 {start}, {steady.high}")
    rooms: list[str] = []
    flags = _Flags(at_low, peeling.rows)
    for (buffer, index), (stride, place) in peeling.accesses.items():
        w.breathe()
        room = _room(kernel, at_low.value(index).text, buffer, stride, place)
        holds = flags.of(peeling.under.get((buffer, index)))
        rooms.append(w.emit(f"select i1 {holds}, i64 {room}, i64 {_ANY_ROOM}") if holds else room)
    if rooms:
        high = _emit_end(kernel, low, high, rooms)
    if peeling.in_loops or peeling.interior.even:
        high = _emit_loop_conditions(peeling, kernel, at_low, low, high)
    return Limits(start, low, high, limits.end, line)


class _Flags:
    """Row-uniform conditions, each emitted once."""

    def __init__(self, lane: LaneContext, held: list[AnyExpr]) -> None:
        """Initialise; `held` are conditions required for any vectors in a row."""
        self._lane = lane
        self._held = held
        self._known: dict[AnyExpr, str] = {}

    def of(self, condition: AnyExpr | None) -> str:
        """Emit whether a condition holds, an i1; empty if there is none or it is implied."""
        if condition is None:
            return ""
        if condition not in self._known and self._holds(condition):
            self._known[condition] = ""
        if condition not in self._known:
            self._known[condition] = self._lane.value(condition).text
        return self._known[condition]

    def _holds(self, condition: AnyExpr) -> bool:
        if isinstance(condition, Binary) and condition.op is BinOp.AND:
            return self._holds(condition.left) and self._holds(condition.right)
        return condition in self._held


def _emit_loop_conditions(
    peeling: RowPartition, kernel: Kernel, at_low: LaneContext, low: str, high: str
) -> str:
    """Emit the end of the lanes whose loops stay in bounds: all, those before the edge, or none."""
    w = kernel.w
    loops = {**peeling.interior.loops, **peeling.loops}
    edges = [
        each
        for buffer, index in peeling.in_loops
        if (each := _edge_of(buffer, index, peeling.forms, loops)) is not None
    ]
    some = w.emit(f"icmp ugt i32 {high}, {low}")
    check, edge, narrow, done = (w.fresh(n) for n in ("reach", "edge", "narrow", "reach.done"))
    ends = [(high, w.label)]
    w.branch(some, check, done)
    w.block(check)
    holds = _hold_in_loops(peeling, kernel, at_low, low, high)
    if not edges:
        ends.append((w.emit(f"select i1 {holds}, i32 {high}, i32 {low}"), w.label))
        w.jump(done)
    else:
        ends.append((high, w.label))
        w.branch(holds, done, edge, likely=True)
        w.block(edge)
        room = w.emit(f"sub i32 {high}, {low}")
        steady = SteadyState(kernel, at_low, peeling.forms, loops, room)
        for each in edges:
            steady.require(each)
        fewer = w.emit(f"add i32 {low}, {steady.high}")
        ends.append((low, w.label))
        w.branch(w.emit(f"icmp ugt i32 {fewer}, {low}"), narrow, done)
        w.block(narrow)
        holds = _hold_in_loops(peeling, kernel, at_low, low, fewer)
        ends.append((w.emit(f"select i1 {holds}, i32 {fewer}, i32 {low}"), w.label))
        w.jump(done)
    w.block(done)
    return w.emit("phi i32 " + ", ".join(f"[ {end}, %{label} ]" for end, label in ends))


def _edge_of(
    buffer: str, index: AnyExpr, forms: LinearForms, loops: Mapping[str, LoopRange]
) -> Assumption | None:
    """The check that an access stays before the end of its buffer, if lanes reach it in order."""
    if forms.word(index) is not DataType.U32:
        return None
    found = assumption_of(Conjunct(BinOp.LT, index, BufLen(buffer)), forms, loops)
    return found if found is not None and found.step > 0 else None


def _hold_in_loops(
    peeling: RowPartition, kernel: Kernel, at_low: LaneContext, low: str, high: str
) -> str:
    """Emit whether accesses in loops are in bounds for lanes from `low` to `high`, an i1."""
    lanes = kernel.w.emit(f"sub i32 {high}, {low}")
    loops = {**peeling.interior.loops, **peeling.loops}
    reach = RangeExpander(kernel, at_low, (lanes,), peeling.forms, loops)
    conditions = [
        condition for even in peeling.interior.even for condition in even.emit_test(reach)
    ]
    for buffer, index in peeling.in_loops:
        conditions += reach.is_inside(index, kernel.memories[buffer].count)
    return all_of(kernel.w, [*conditions, *reach.exact])


def emit_facts(peeling: RowPartition, kernel: Kernel, first: LaneContext, length: str) -> str:
    """Emit whether launch-time facts prove the accesses they may, an i1."""
    reach = RangeExpander(kernel, first, (length,), peeling.forms, peeling.loops, peeling.contents)
    inside = [
        condition
        for buffer, index in peeling.facts
        for condition in reach.is_inside(index, kernel.memories[buffer].count)
    ]
    return all_of(kernel.w, [*inside, *reach.exact])


def _emit_period(kernel: Kernel, steady: SteadyState, first: LaneContext, period: Period) -> Value:
    """Emit the value of a period's name at the first lane.

    It is valid until the period ends.
    """
    w = kernel.w
    number, divisor = first.value(period.number), first.value(period.divisor)
    past = first.value(Binary(BinOp.REM, period.number, period.divisor)).text
    at, end, done = (
        w.emit(f"zext i32 {text} to i64") for text in (number.text, divisor.text, past)
    )
    most = word_range(number.dtype)[1]
    if number.dtype.is_signed:
        # Below zero a remainder falls while its dividend rises.
        for text, order in ((number.text, "sge"), (divisor.text, "sgt")):
            steady.require_flag(w.emit(f"icmp {order} i32 {text}, 0"))
    distance = w.emit(f"sub i64 {end}, {done}")
    before_wrap = w.emit(f"sub i64 {most + 1}, {at}")
    distance = w.intrinsic("umin", "i64", distance, before_wrap)
    if period.step > 1:
        distance = w.emit(f"add i64 {distance}, {period.step - 1}")
        distance = w.emit(f"udiv i64 {distance}, {period.step}")
    capped = w.intrinsic("umin", "i64", distance, str(1 << 31))
    steady.require_room(w.emit(f"trunc i64 {capped} to i32"))
    return first.value(period.value)


def _part_span(
    kernel: Kernel, first: LaneContext, part: Conjunct, length: str, may_wrap: bool
) -> tuple[str, str, str]:
    """Emit the lanes for which a conjunct holds.

    Returns the first lane, the end of the lanes for which it must hold, and of those for which it
    may.
    """
    w = kernel.w
    start, bound = first.value(part.left).text, first.value(part.right).text
    if part.op in (BinOp.EQ, BinOp.NE):
        place = w.emit(f"sub i32 {bound}, {start}")
        if part.op is BinOp.EQ:
            here = w.emit(f"icmp ult i32 {place}, {length}")
            low = w.emit(f"select i1 {here}, i32 {place}, i32 0")
            high = w.emit(f"add i32 {low}, 1")
            high = w.emit(f"select i1 {here}, i32 {high}, i32 0")
            return low, high, high
        is_first = w.emit(f"icmp eq i32 {place}, 0")
        low = w.emit(f"zext i1 {is_first} to i32")
        return low, w.emit(f"select i1 {is_first}, i32 {length}, i32 {place}"), length
    wraps = "false"
    if may_wrap:
        spare = w.emit(f"sub i32 0, {length}")
        wraps = w.emit(f"icmp ugt i32 {start}, {spare}")
    room = w.intrinsic("usub.sat", "i32", bound, start)
    if part.op in (BinOp.LE, BinOp.GT):
        # One more lane, unless the first is beyond the bound already.
        more = w.intrinsic("uadd.sat", "i32", room, "1")
        beyond = w.emit(f"icmp ugt i32 {start}, {bound}")
        room = w.emit(f"select i1 {beyond}, i32 0, i32 {more}")
    if part.op in (BinOp.LT, BinOp.LE):
        return "0", room, w.emit(f"select i1 {wraps}, i32 {length}, i32 {room}")
    low = w.emit(f"select i1 {wraps}, i32 0, i32 {room}")
    high = w.emit(f"select i1 {wraps}, i32 0, i32 {length}")
    return w.intrinsic("umin", "i32", low, length), high, length


def _room(kernel: Kernel, first: str, buffer: str, stride: int, place: int) -> str:
    """Emit how many lanes access a buffer within its bounds, an i64.

    They are counted from the first on. Of a stride of several elements, all must be inside: they
    are read or written together.
    """
    w = kernel.w
    at = w.emit(f"zext i32 {first} to i64")
    left = w.intrinsic("usub.sat", "i64", kernel.memories[buffer].count, at)
    if stride < 0:
        # Down to the first element, if the first access is in bounds.
        begins = w.emit(f"icmp ne i64 {left}, 0")
        down = w.emit(f"add i64 {at}, 1")
        left = w.emit(f"select i1 {begins}, i64 {down}, i64 0")
    if stride > 1:
        left = w.intrinsic("usub.sat", "i64", left, str(stride - 1 - place))
        left = w.emit(f"add i64 {left}, {stride - 1}")
        left = w.emit(f"udiv i64 {left}, {stride}")
    if place:
        begins = w.emit(f"icmp uge i64 {at}, {place}")
        left = w.emit(f"select i1 {begins}, i64 {left}, i64 0")
    return left


def _emit_end(kernel: Kernel, low: str, high: str, rooms: list[str]) -> str:
    """Emit the end of the lanes that begin at `low`, an i32.

    It is at most `high` and allowed by all of `rooms`, which are numbers of lanes, i64.
    """
    w = kernel.w
    least, *others = dict.fromkeys(rooms)
    for room in others:
        least = w.intrinsic("umin", "i64", least, room)
    if low != "0":
        # No buffer has enough elements for this sum to wrap.
        least = w.emit(f"add i64 {least}, {w.emit(f'zext i32 {low} to i64')}")
    least = w.intrinsic("umin", "i64", least, w.emit(f"zext i32 {high} to i64"))
    return w.emit(f"trunc i64 {least} to i32")
