"""Loop versioning: one bounds check before the loop instead of one per iteration.

Scalar lanes have loops with bounds of their own, as in `for e in starts[node]..starts[node + 1] { …
targets[e] … }`. Where such a loop ends inside the buffers, it runs without bounds checks. The same
holds for indices that are affine in the induction variable, with a coefficient of one or minus one
and an invariant base, as in `out[begin + k] = text[end - 1 - k]`: the first and the last iteration
bound all between them. A variable incremented by one in every iteration, as decoders have it in
`out[o] = value; o = o + 1`, serves like the induction variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.add_recurrences import Following
from vyre.backends.llvm.analysis.affine_forms import flat_index
from vyre.backends.llvm.emit.builder import register_type
from vyre.backends.llvm.emit.values import Slot, Value, uniform
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.techniques import Technique
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct, conjuncts_of

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext

MOST_BITS = 32
"""Maximum width of induction variables."""


@dataclass(slots=True)
class CounterAccesses:
    """Accesses of a loop whose index is affine in its induction variable."""

    ends: dict[str, int] = field(default_factory=dict[str, int])
    """Greatest offset from the induction variable itself, by buffer."""
    following: dict[tuple[str, ir.AnyExpr], bool] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], bool]
    )
    """Buffers and other affine indices: whether these rise with the induction variable."""
    conditions: dict[Conjunct, bool] = field(default_factory=dict[Conjunct, bool])
    """Comparisons with a loop-invariant right side: whether the left side rises."""
    fixed: dict[ir.AnyExpr, None] = field(default_factory=dict[ir.AnyExpr, None])
    """Loop-invariant conditions."""
    rising: dict[str, int] = field(default_factory=dict[str, int])
    """Variables incremented by one in every iteration, or by minus one."""
    accesses: set[int] = field(default_factory=set[int])
    indices: dict[int, tuple[str, ir.AnyExpr]] = field(
        default_factory=dict[int, tuple[str, ir.AnyExpr]]
    )
    """Buffers and indices of the accesses in `following`, by the access's identity."""
    firsts: dict[tuple[str, ir.AnyExpr], str] = field(
        default_factory=dict[tuple[str, ir.AnyExpr], str]
    )
    """Their indices in the first iteration, i64 operands."""

    def places(self, loop: ir.Loop, start: Value) -> dict[int, FromFirst]:
        """The indices of the accesses in `following`, after the test is emitted."""
        return {
            access: FromFirst(self.firsts[key], self.following[key], loop.var, start)
            for access, key in self.indices.items()
        }


@dataclass(frozen=True, slots=True)
class FromFirst:
    """An index as a distance in iterations from the first; never wraps."""

    first: str
    rises: bool
    counter: str
    start: Value

    def emit(self, lanes: LaneContext) -> Value:
        """Emit the index in the current iteration."""
        w, scalar = lanes.w, register_type(self.start.dtype)
        distance = w.emit(f"sub {scalar} {lanes.read(self.counter).text}, {self.start.text}")
        wide = w.emit(f"zext {scalar} {distance} to i64")
        op = "add" if self.rises else "sub"
        return uniform(ir.DataType.U64, w.emit(f"{op} i64 {self.first}, {wide}"))


def accesses_at_counter(
    lanes: LaneContext, loop: ir.Loop, counter: ir.DataType
) -> CounterAccesses | None:
    """The accesses that one test before an innermost loop proves; None if unprofitable."""
    if not lanes.kernel.allows(Technique.VERSION_LOOPS):
        return None
    if lanes.width or not lanes.branches or lanes.kernel.unchecked:
        return None
    if is_large(lanes.kernel.program):
        return None
    return followed_by(
        loop,
        counter,
        lanes.kernel.env,
        lambda access: lanes.proven(access) or access.buffer in lanes.own,
    )


def followed_by(
    loop: ir.Loop,
    counter: ir.DataType,
    env: TypeEnv,
    known: Callable[[ir.Load | ir.Atomic | ir.Store], bool],
) -> CounterAccesses | None:
    """The accesses affine in an innermost loop's induction variable, except known ones."""
    if not counter.is_integer or (counter.bits or 0) > MOST_BITS:
        return None
    search = _Search(loop, counter, env)
    nodes = 0
    for place, above in enumerate(search.follows.places):
        for statement in walk_stmts((above,)):
            if isinstance(statement, (ir.Loop, ir.While)):
                return None
            inner = list(walk_own_exprs(statement))
            nodes += len(inner)
            accesses = [node for node in inner if isinstance(node, (ir.Load, ir.Atomic))]
            for access in (*accesses, *([statement] if isinstance(statement, ir.Store) else [])):
                if not known(access):
                    search.look_at(access, place)
    return (
        search.found
        if search.found.accesses and nodes <= heuristics.MAX_VERSIONED_LOOP_NODES
        else None
    )


class _Search:
    def __init__(self, loop: ir.Loop, counter: ir.DataType, env: TypeEnv) -> None:
        self.follows = Following(loop, counter, env)
        self.found = CounterAccesses(
            rising={n: step for n, (step, _) in self.follows.rising.items()}
        )
        self._counter = loop.var if counter is ir.DataType.U32 else None
        self._env = env

    def look_at(self, access: ir.Load | ir.Atomic | ir.Store, place: int) -> None:
        """Record an access if its index is affine in the induction variable."""
        record, follows = self.found, self.follows
        written = follows.expand(access.index)
        index = follows.expand(flat_index(written))
        offset = _offset(index, self._counter)
        if offset is not None:
            record.ends[access.buffer] = max(offset, record.ends.get(access.buffer, 0))
            record.accesses.add(id(access))
            return
        step = follows.step(index, place)
        if step not in (1, -1) or len(record.following) >= heuristics.MAX_VERSIONED_INDICES:
            return
        if isinstance(written, ir.Select):
            parts = list(self._conditions(written.cond, place))
            if None in parts:
                return
            for part, rises in (part for part in parts if part is not None):
                if rises is None:
                    record.fixed[part.condition()] = None
                else:
                    record.conditions[part] = rises
        record.following[access.buffer, index] = step > 0
        record.indices[id(access)] = (access.buffer, index)
        record.accesses.add(id(access))

    def _conditions(
        self, cond: ir.AnyExpr, place: int
    ) -> Iterator[tuple[Conjunct, bool | None] | None]:
        """The conjuncts of a condition, and whether their left side rises.

        Yields None instead of a rise for loop-invariant conjuncts, and None alone for other ones.
        """
        follows = self.follows
        for part in conjuncts_of(cond, negated=False, is_integer=lambda _: True):
            part = part.mirrored() if part.op is ir.BinOp.GT else part
            left, right = follows.expand(part.left), follows.expand(part.right)
            if part.op is not ir.BinOp.LT or type_of(left, self._env) is not ir.DataType.U32:
                yield None
                continue
            steps = follows.step(left, place), follows.step(right, place)
            if steps == (0, 0):
                yield Conjunct(part.op, left, right), None
            elif steps[0] in (1, -1) and steps[1] == 0:
                yield Conjunct(part.op, left, right), steps[0] > 0
            else:
                yield None


def _offset(index: ir.AnyExpr, counter: str | None) -> int | None:
    match index:
        case ir.Var(name):
            return 0 if name == counter else None
        case ir.Binary(ir.BinOp.ADD, ir.Var(name), ir.Lit(_, bits)) if name == counter:
            return bits if bits <= heuristics.MAX_VERSIONED_OFFSET else None
        case _:
            return None


def emit_test(
    lanes: LaneContext, loop: ir.Loop, start: Value, stop: Value, accesses: CounterAccesses
) -> str:
    """Emit whether all accesses of a loop are in bounds, an i1.

    It runs from `start` up to `stop`; if its trip count is zero, nothing needs to be true.
    """
    w = lanes.w
    holds: list[str] = []
    end = w.emit(f"zext i32 {stop.text} to i64") if accesses.ends else ""
    for buffer, offset in accesses.ends.items():
        # The induction variable is less than `stop`, and a 32-bit index must not wrap on the way.
        last = w.emit(f"add i64 {end}, {offset}") if offset else end
        count = w.intrinsic("umin", "i64", lanes.buffer(buffer).count, str(1 << 32))
        holds.append(w.emit(f"icmp ule i64 {last}, {count}"))
    if accesses.following:
        ends = _FirstAndLast(lanes, loop, start, stop, accesses)
        for (buffer, index), rises in accesses.following.items():
            first, greatest = ends.first_and_greatest(index, rises, holds)
            accesses.firsts[buffer, index] = w.emit(f"zext i32 {first.text} to i64")
            last = w.emit(f"zext i32 {greatest.text} to i64")
            count = lanes.buffer(buffer).count
            if greatest.dtype.is_signed:
                # Beyond it are the negative numbers.
                count = w.intrinsic("umin", "i64", count, str(1 << 31))
            holds.append(w.emit(f"icmp ult i64 {last}, {count}"))
        for part, rises in accesses.conditions.items():
            _, greatest = ends.first_and_greatest(part.left, rises, holds)
            bound = lanes.value(part.right).text
            holds.append(w.emit(f"icmp ult i32 {greatest.text}, {bound}"))
        holds += [lanes.value(condition).text for condition in accesses.fixed]
    result = "true"
    for flag in holds:
        result = w.emit(f"and i1 {result}, {flag}")
    return result


class _FirstAndLast:
    """Values of expressions in a loop's first and last iteration."""

    def __init__(
        self, lanes: LaneContext, loop: ir.Loop, start: Value, stop: Value, found: CounterAccesses
    ) -> None:
        self._lanes = lanes
        w, scalar = lanes.w, register_type(stop.dtype)
        final = w.emit(f"sub {scalar} {stop.text}, 1")
        after = w.emit(f"sub {scalar} {final}, {start.text}")
        if scalar != "i32":
            after = w.emit(f"zext {scalar} {after} to i32")
        self._names: list[dict[str, Value | Slot]] = [{loop.var: start}]
        self._names.append({loop.var: uniform(stop.dtype, final)})
        for name, step in found.rising.items():
            if name in lanes.names:
                first = lanes.read(name)
                op = "add" if step > 0 else "sub"
                last = w.emit(f"{op} i32 {first.text}, {after}")
                self._names[0][name] = first
                self._names[1][name] = uniform(first.dtype, last)

    def first_and_greatest(
        self, expr: ir.AnyExpr, rises: bool, holds: list[str]
    ) -> tuple[Value, Value]:
        """Emit an expression's first and greatest value, if it is monotonic.

        The condition that it is monotonic is appended to `holds`.
        """
        lanes, places = self._lanes, list[Value]()
        for names in self._names:
            before = dict(lanes.names)
            lanes.names.update(names)
            places.append(lanes.value(expr))
            lanes.names = before
        least, most = places if rises else reversed(places)
        # Steps of one take every value between: without wrapping, the ends are in order.
        holds.append(lanes.w.emit(f"icmp ule i32 {least.text}, {most.text}"))
        return places[0], most
