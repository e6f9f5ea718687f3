"""Emits one parallel region: a vector loop over each row, then its scalar remainder.

Lanes run in full vectors, or several scalar lanes in lock-step; the lanes that are left run one by
one. A region is versioned where the stride of structures, trip counts or the length of lines is
speculated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.delinearise import PeriodSearch
from vyre.backends.llvm.analysis.idempotence import is_idempotent
from vyre.backends.llvm.analysis.live_across_barriers import LiveAcrossBarriers
from vyre.backends.llvm.analysis.parallel_regions import ParallelRegion
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.region_body import (
    emit_lock_step,
    emit_one_lane,
    emit_sifted,
    view_of,
)
from vyre.backends.llvm.emit.row_bounds import Limits, emit_facts, emit_limits
from vyre.backends.llvm.emit.row_loop import emit_outlined, emit_steps
from vyre.backends.llvm.emit.steady_state import emit_edged_row
from vyre.backends.llvm.emit.values import Slot, Value
from vyre.backends.llvm.emit.workgroup_test import emit_workgroup_test
from vyre.backends.llvm.rewrites.narrow_integers import narrow
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.backends.llvm.rewrites.simplify_indices import IndexSimplifier, Speculation
from vyre.backends.llvm.rewrites.unroll_struct_loops import with_short_loops
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.schedule.prefetch import prefetched_loads
from vyre.backends.llvm.schedule.select_tile import select_tile
from vyre.backends.llvm.schedule.tile import ONE_BY_ONE, Tile, describe
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import walk_stmts
from vyre.record import dataclass

Position = tuple[str, str, str]
Window = tuple[str, str]
"""A range of lanes along x: the first and the one after the last; i32 operands."""


@dataclass(slots=True)
class Target:
    """Labels of the workgroup's loop that encloses a region."""

    next: str
    done: str
    signal: str
    """Slot of an i8 that records a lane's break or continue."""


@dataclass(slots=True)
class RegionEmitter:
    """Emits one parallel region for all lanes of a workgroup."""

    kernel: Kernel
    stretch: ParallelRegion
    crossing: LiveAcrossBarriers
    bound: Mapping[str, Value | Slot]
    dead: str | None
    """Flags of lanes that have returned, if later regions must skip them."""
    target: Target | None
    """The loop of the workgroup that lanes may leave, if any does."""
    window: Window | None = None
    """The lanes of every row that run, if not all."""
    more: int = 0
    """Bit mask of structures speculated to have one extra, untouched member."""
    usual: int = 0
    """Members of structures of which every row accesses one; 0 if not speculated."""
    plain: bool = False
    """True if short loops over the members of structures stay loops."""
    shortened: bool = False
    """True if some of these loops are fully unrolled."""
    short: bool = False
    """True if the lines of delinearised indices are too short for vectors."""
    peeling: RowPartition = field(init=False)
    tile: Tile = ONE_BY_ONE
    varying: frozenset[str] = frozenset()
    ahead: frozenset[int] = frozenset()
    """Loads whose following memory is prefetched."""
    again: bool = False
    """True if lanes may run twice: the last vector may overlap the one before."""
    whole: str | None = None
    """Emitted test, an i1: all lanes of all rows run in vectors; None if there is no test."""

    def __post_init__(self) -> None:
        free = self.dead is None and self.target is None
        body = self.body
        if free and self.kernel.thorough and not is_large(self.kernel.program):
            body = self._shortened(body)
        self.varying = self.crossing.all_used(self.stretch)
        self.peeling = self._peel(body if free else ())
        if free:
            self.tile = select_tile(self.kernel, self.peeling, self.varying)
            narrows = self.kernel.allows(Technique.NARROW_INTEGERS)
            if self.tile.width >= heuristics.MIN_NARROWED_LANES and narrows:
                wide = self.peeling.simplified
                self.kernel.retain(wide)
                self.kernel.proven = narrow(self.kernel.program, self.peeling, self.kernel.proven)
                if self.peeling.simplified is not wide:
                    self.kernel.applies(Technique.NARROW_INTEGERS)
            done = self.peeling.simplified
            overlaps = self.kernel.allows(Technique.OVERLAP_REMAINDER)
            self.again = overlaps and is_idempotent(self.kernel.program, done, self.crossing.names)
            if self.kernel.allows(Technique.PREFETCH):
                self.ahead = prefetched_loads(self.kernel, self.peeling)
        self._note_techniques()

    def _note_techniques(self) -> None:
        """Record the applied techniques, for `explain()`."""
        inner = self.peeling.interior
        applied = {
            Technique.UNROLL_STRUCT_LOOPS: self.shortened,
            Technique.REBASE_LOOPS: bool(inner.even),
            Technique.DELINEARISE: bool(inner.periods),
            Technique.SPECULATE_STRIDES: bool(inner.steps),
            Technique.TABLE_RANGES: bool(self.peeling.facts),
            Technique.OVERLAP_REMAINDER: self.again and self.tile.width > 0,
            Technique.PREFETCH: bool(self.ahead),
        }
        for technique, is_applied in applied.items():
            if is_applied:
                self.kernel.applies(technique)

    @property
    def body(self) -> ir.Body:
        return self.stretch.body

    def _shortened(self, body: ir.Body) -> ir.Body:
        """Fully unroll short loops over the members of structures, if any."""
        if self.plain or not self.kernel.allows(Technique.UNROLL_STRUCT_LOOPS):
            return body
        outer, leaves = self.crossing.recomputed, frozenset(self.bound)
        written = with_short_loops(self.kernel, body, outer, leaves)
        self.shortened = written is not body
        return written

    def _peel(self, body: ir.Body) -> RowPartition:
        kernel, crossing = self.kernel, self.crossing
        outer, leaves = crossing.recomputed, frozenset(self.bound)
        program = kernel.program
        speculation = Speculation(kernel.techniques, self._sought(), self.more, self.usual)
        names = crossing.names
        inner = IndexSimplifier(program, body, outer, leaves, kernel.types, names, speculation)
        kernel.learn(inner.types, inner.rebuilt)
        return RowPartition(
            program,
            inner.body,
            outer,
            inner.leaves,
            inner.types,
            kernel.proven,
            crossing.names,
            inner,
            kernel.techniques,
        )

    def _sought(self) -> PeriodSearch:
        """Where delinearisation of remainders and quotients is profitable."""
        if self.short or not self.kernel.allows(Technique.DELINEARISE):
            return PeriodSearch.NOWHERE
        twice = self.kernel.thorough and not is_large(self.kernel.program)
        return PeriodSearch.ANYWHERE if twice else PeriodSearch.IN_DECISIONS

    def emit(self) -> None:
        """Emit all rows, versioned for two sizes of structures.

        That is done where their stride is speculated.
        """
        w, steps = self.kernel.w, self.peeling.interior.steps
        versions = [*self._usual_sizes(), self]
        if steps and not self.more and self.tile.width and self._is_small():
            versions += self._wider(list(steps.values()))
        if steps and self.shortened:
            # Scalar lanes would be slower than loops for structures of any size.
            versions.append(replace(self, plain=True))
        done = w.fresh("rows.done")
        for version in versions[:-1]:
            usual, other = w.fresh("usual"), w.fresh("wider")
            likely = version is self
            w.branch(self._are_all(version.peeling.interior.steps), usual, other, likely=likely)
            w.block(usual)
            version._emit()
            w.jump(done)
            w.block(other)
        versions[-1]._emit()
        w.block(done)

    def _usual_sizes(self) -> list[RegionEmitter]:
        """Versions for each usual structure size; every row accesses one member."""
        if not self.kernel.thorough or not self.peeling.interior.has_parts_of_rows:
            return []
        if not self._is_small():
            return []
        versions = [replace(self, usual=number) for number in heuristics.SPECULATED_STRUCT_SIZES]
        return [rows for rows in versions if rows.tile.width]

    def _wider(self, numbers: list[ir.Lit]) -> list[RegionEmitter]:
        """Versions for structures with members that no lane accesses: some of them, or all."""
        every = (1 << len(numbers)) - 1
        choices = (1, 2, every) if every == 3 and self.kernel.thorough else (every,)
        may = sum(
            1 << n
            for n, number in enumerate(numbers)
            if number.bits < heuristics.MAX_PARTIAL_STRUCT_MEMBERS
        )
        versions = [replace(self, more=more) for more in choices if more & may == more]
        return [rows for rows in versions if len(rows.peeling.interior.steps) == len(numbers)]

    def _are_all(self, numbers: Mapping[ir.AnyExpr, ir.Lit]) -> str:
        """Emit whether workgroup-uniform values equal the speculated numbers, an i1."""
        w, holds = self.kernel.w, "true"
        first = view_of(self, 0, ("0", "0", "0"))
        for value, number in numbers.items():
            same = first.value(ir.Binary(ir.BinOp.EQ, value, number)).text
            holds = w.emit(f"and i1 {holds}, {same}")
        return holds

    def _is_small(self) -> bool:
        return (
            sum(1 for _ in walk_stmts(self.stretch.body))
            <= heuristics.MAX_STRUCT_VERSION_STATEMENTS
        )

    def _emit(self) -> None:
        """Emit all rows, versioned for rows that consist of short lines."""
        inner = self.peeling.interior
        divisors = inner.divisors() if inner.divides_values or self._is_small() else []
        versioned = self.kernel.allows(Technique.SHORT_ROWS)
        if not versioned or not divisors or self._sought() is not PeriodSearch.ANYWHERE:
            self._emit_rows()
            return
        w, first = self.kernel.w, view_of(self, 0, ("0", "0", "0"))
        shortest = max(
            heuristics.MIN_LINE_QUARTER_STEPS[0 if self.again else 1] * self.tile.step // 4,
            heuristics.MIN_LINE_LANES,
        )
        holds = "true"
        for divisor in divisors:
            is_long = first.value(self._is_long(divisor, shortest)).text
            holds = w.emit(f"and i1 {holds}, {is_long}")
        self.kernel.applies(Technique.SHORT_ROWS)
        along, short, done = (w.fresh(n) for n in ("lines", "lines.short", "lines.done"))
        w.branch(holds, along, short)
        w.block(along)
        self._emit_rows()
        w.jump(done)
        w.block(short)
        replace(self, short=True)._emit_rows()
        w.block(done)

    def _is_long(self, divisor: ir.AnyExpr, shortest: int) -> ir.AnyExpr:
        """The condition that lines fill vectors: they are long, or whole vectors and no rest."""
        dtype = self.peeling.forms.type_of(divisor)
        is_long = ir.Binary(ir.BinOp.GE, divisor, ir.Lit(dtype, shortest))
        step = self.tile.step
        if step < heuristics.MIN_LINE_LANES or step & (step - 1):
            return is_long
        rest = ir.Binary(ir.BinOp.AND, divisor, ir.Lit(dtype, step - 1))
        is_whole = ir.Binary(ir.BinOp.EQ, rest, ir.Lit(dtype, 0))
        is_some = ir.Binary(ir.BinOp.GE, divisor, ir.Lit(dtype, step))
        fills = ir.Binary(ir.BinOp.AND, is_whole, is_some)
        return ir.Binary(ir.BinOp.OR, is_long, fills)

    def _emit_rows(self) -> None:
        """Emit the loops over z and y around the rows."""
        self.kernel.regions.append(describe(self.tile, overlaps=self.again))
        self.look_at_whole()
        self._count(2, 1, self._planes)

    def look_at_whole(self) -> None:
        """Emit the test whether all lanes run in vectors.

        It is emitted if there are many rows. It takes much code and saves little where rows are
        long, so the first tier omits it.
        """
        many = self.kernel.size[1] * self.kernel.size[2] > 1
        tested = self.kernel.allows(Technique.WORKGROUP_TEST)
        if tested and self.tile.peeled and many and self.kernel.thorough:
            self.whole = emit_workgroup_test(
                self.kernel, self.peeling, view_of(self, 0, ("0", "0", "0"))
            )
            if self.whole is not None:
                self.kernel.applies(Technique.WORKGROUP_TEST)

    def _planes(self, z: str) -> None:
        jam = self.tile.jam if self.tile.axis == 1 else 1
        self._count(1, jam, lambda y: self._band(y, z, jam))

    def _count(self, axis: int, step: int, emit: Callable[[str], None]) -> None:
        """Emit a counted loop along an axis of the workgroup."""
        size = self.kernel.size[axis]
        if size == 1:
            emit("0")
            return
        count = self.kernel.rows if axis == 1 and self.kernel.rows else str(size)
        self._dynamic_count("xyz"[axis], count, step, emit)

    def _dynamic_count(self, name: str, size: str, step: int, emit: Callable[[str], None]) -> None:
        w = self.kernel.w
        slot = w.slot("i32", name)
        w.do(f"store i32 0, ptr {slot}")
        head, done = w.fresh(f"lane.{name}"), w.fresh(f"lane.{name}.done")
        w.block(head)
        now = w.emit(f"load i32, ptr {slot}", name)
        emit(now)
        following = w.emit(f"add nuw i32 {now}, {step}")
        w.do(f"store i32 {following}, ptr {slot}")
        more = w.emit(f"icmp ult i32 {following}, {size}")
        w.branch(more, head, done)
        w.block(done)

    # One row, or several in lock-step ------------------------------------------------------------

    def _band(self, y: str, z: str, rows: int) -> None:
        w = self.kernel.w
        slot = w.slot("i32", "x")
        if rows == 1 and self.peeling.has_edges and self.tile.peeled:
            emit_edged_row(self, slot, self._limits([y], z), y, z)
            return
        if rows == 1:
            limits = self._limits([y], z)
            w.do(f"store i32 {limits.start}, ptr {slot}")
            if self.tile.peeled:
                self.row_together(slot, limits, y, z)
            self.rest(slot, limits.end, y, z)
            return
        ys = [y] + [w.emit(f"add nuw i32 {y}, {n}") for n in range(1, rows)]
        limits = self._limits(ys, z)
        w.do(f"store i32 {limits.start}, ptr {slot}")
        high, count = limits.high, str(rows)
        if self.kernel.rows:
            count = self.kernel.rows
            enough = w.emit(f"icmp eq i32 {count}, {rows}")
            high = w.emit(f"select i1 {enough}, i32 {high}, i32 0")
        self._together(slot, high, [("", own, z) for own in ys], self.peeling.inside)
        reached = w.emit(f"load i32, ptr {slot}")

        def row(n: str) -> None:
            own = w.emit(f"add nuw i32 {y}, {n}")
            w.do(f"store i32 {reached}, ptr {slot}")
            self.rest(slot, self._row_limits(own, z).end, own, z)

        some, none = w.fresh("left"), w.fresh("none.left")
        w.branch(w.emit(f"icmp ult i32 {reached}, {self.kernel.row}"), some, none)
        w.block(some)
        self._dynamic_count("row", count, 1, row)
        w.block(none)

    def _limits(self, ys: list[str], z: str) -> Limits:
        """Emit the common bounds of rows in lock-step; of several, only the first one's end."""
        w, whole = self.kernel.w, self.whole
        if whole is None:
            return self._within(self._common_limits(ys, z))
        part, done = w.fresh("part"), w.fresh("limits")
        before, row = w.label, self.kernel.row
        w.branch(whole, done, part)
        w.block(part)
        limits = self._common_limits(ys, z)
        after = w.label
        w.block(done)
        pairs = (("0", limits.start), ("0", limits.low), (row, limits.high), (row, limits.end))
        start, low, high, end = (
            w.emit(f"phi i32 [ {full}, %{before} ], [ {some}, %{after} ]") for full, some in pairs
        )
        return self._within(Limits(start, low, high, end))

    def _within(self, limits: Limits) -> Limits:
        """Clamp the bounds to the lanes that run."""
        if self.window is None:
            return limits
        w, (first, end) = self.kernel.w, self.window
        start, low = (w.intrinsic("umax", "i32", n, first) for n in (limits.start, limits.low))
        high, stop = (w.intrinsic("umin", "i32", n, end) for n in (limits.high, limits.end))
        return Limits(start, low, high, stop)

    def _common_limits(self, ys: list[str], z: str) -> Limits:
        first, *others = [self._row_limits(y, z) for y in ys]
        high = first.high
        for limits in others:
            high = self.kernel.w.intrinsic("umin", "i32", high, limits.high)
        return Limits(first.start, first.low, high, first.end)

    def _row_limits(self, y: str, z: str) -> Limits:
        if not self.peeling.parts and not self.tile.peeled:
            return Limits("0", "0", "0", self.kernel.row)
        return emit_limits(
            self.peeling, self.kernel, lambda x: view_of(self, 0, (x, y, z)), self.kernel.row
        )

    def row_together(self, slot: str, limits: Limits, y: str, z: str) -> None:
        """Emit a row's vector loop, unchecked where launch-time facts allow it."""
        peeling, row = self.peeling, [("", y, z)]
        sieve = self.tile.sieve
        if sieve is not None:
            emit_steps(
                self.kernel.w,
                slot,
                limits.high,
                heuristics.LANE_FILTER_LANES,
                lambda x, end: emit_sifted(self, sieve, (x, y, z), end),
            )
            return
        if peeling.facts and not self.kernel.unchecked:
            w = self.kernel.w
            holds = emit_facts(peeling, self.kernel, view_of(self, 0, ("0", y, z)), self.kernel.row)
            limit = w.emit(f"select i1 {holds}, i32 {limits.high}, i32 0")
            self._together(slot, limit, row, peeling.inside | peeling.by_facts)
            if self.tile.step == 1:
                return
            emit_outlined(
                self.kernel,
                slot,
                limits.high,
                lambda own: self._together(own, limits.high, row, peeling.inside),
            )
        else:
            self._together(slot, limits.high, row, peeling.inside)
        tile = self.tile
        if tile.width and tile.step > tile.width:
            # The remainder may still be long enough for a step without jamming.
            self.tile = replace(tile, jam=1)
            self._together(slot, limits.high, row, peeling.inside)
            self.tile = tile

    def _together(self, slot: str, limit: str, rows: list[Position], inside: set[int]) -> None:
        tile = self.tile

        def emit(x: str, end: str) -> None:
            w = self.kernel.w
            places = [(x, y, z) for _, y, z in rows]
            if tile.axis == 0:
                _, y, z = rows[0]
                step = tile.width or 1
                places += [
                    (w.emit(f"add nuw i32 {x}, {n * step}"), y, z) for n in range(1, tile.jam)
                ]
            emit_lock_step(self, places, end, inside)

        emit_steps(self.kernel.w, slot, limit, tile.step, emit, again=self.again)

    def rest(self, slot: str, end: str, y: str, z: str) -> None:
        """Emit the scalar loop over the remaining lanes of a row."""

        def emit(slot: str) -> None:
            w = self.kernel.w
            emit_steps(w, slot, end, 1, lambda x, end_: emit_one_lane(self, (x, y, z), end_))

        if self.tile.peeled and self.kernel.row.startswith("%"):
            # In a long row few lanes are left; in one workgroup they may be all of its lanes.
            emit_outlined(self.kernel, slot, end, emit)
        else:
            emit(slot)
