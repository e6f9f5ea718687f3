"""Rows that alternate between a vectorised steady state and scalar border lanes.

Before, after and between the vectorised ranges, lanes run one by one: at the borders of an
array, and where the lines begin and end that a flat index was delinearised into. Each line has a
prologue before its first vector, so the known end of a line is not computed again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.region_body import emit_late_lanes, view_of
from vyre.backends.llvm.emit.row_bounds import Limits, emit_steady_bounds
from vyre.backends.llvm.emit.values import uniform

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.region import RegionEmitter

ALL_ALONE = 1 << 28
"""Number of scalar lanes that stands for the rest of the row: vectors are given up."""


def emit_edged_row(rows: RegionEmitter, slot: str, limits: Limits, y: str, z: str) -> None:
    """Emit the lanes of a row; `slot` holds the induction variable along x.

    Where a period of the row is too short for vectors, more and more lanes run one by one before
    vectors are tried again.
    """
    w = rows.kernel.w
    step = heuristics.LANE_FILTER_LANES if rows.tile.sieve is not None else rows.tile.step
    alone = w.slot("i32", "alone")
    w.do(f"store i32 1, ptr {alone}")
    repeats = bool(rows.peeling.interior.periods)
    passed = w.slot("i32", "line.end") if repeats else ""
    if repeats:
        w.do(f"store i32 0, ptr {passed}")
    w.do(f"store i32 {limits.start}, ptr {slot}")
    head, run, done = (w.fresh(n) for n in ("edged", "edged.lanes", "edged.done"))
    w.block(head)
    now = w.emit(f"load i32, ptr {slot}")
    w.branch(w.emit(f"icmp ult i32 {now}, {limits.end}"), run, done)
    w.block(run)
    lone = limits.end
    few = w.emit(f"load i32, ptr {alone}")
    known = "false"
    if repeats:
        limits, known = _emit_line(rows, Limits(now, now, limits.high, limits.end), passed, y, z)
        lone = w.intrinsic("umax", "i32", limits.high, w.emit(f"add i32 {now}, {few}"))
        lone = w.emit(f"select i1 {known}, i32 {limits.line}, i32 {lone}")
    begin = w.intrinsic("umax", "i32", limits.low, now)
    room = w.intrinsic("usub.sat", "i32", limits.high, begin)
    fits = w.emit(f"icmp uge i32 {room}, {step}")
    enough = w.emit(f"and i1 {fits}, {w.emit(f'icmp ult i32 {few}, {ALL_ALONE}')}")
    until = w.emit(f"select i1 {enough}, i32 {begin}, i32 {lone}")
    until = w.intrinsic("umin", "i32", until, limits.end)
    rows.rest(slot, until, y, z)
    high = w.emit(f"select i1 {enough}, i32 {limits.high}, i32 0")
    rows.row_together(slot, replace(limits, high=high), y, z)
    if repeats and _may_run_late(rows):
        _emit_late(rows, slot, high, y, z)
    moved = w.emit(f"icmp ugt i32 {w.emit(f'load i32, ptr {slot}')}, {until}")
    # Lanes that could run in vectors and did not are not tested again.
    after = w.emit(f"select i1 {moved}, i32 1, i32 {ALL_ALONE}")
    more = w.intrinsic(
        "umin",
        "i32",
        w.emit(f"mul i32 {few}, {heuristics.SCALAR_BACKOFF_FACTOR}"),
        str(ALL_ALONE - 1),
    )
    more = w.emit(f"select i1 {known}, i32 {few}, i32 {more}")
    more = w.emit(f"select i1 {enough}, i32 {after}, i32 {more}")
    w.do(f"store i32 {more}, ptr {alone}")
    if repeats:
        _emit_passed(rows, slot, limits.line, passed, w.emit(f"and i1 {moved}, {enough}"))
    w.jump(head)
    w.block(done)


def _emit_line(
    rows: RegionEmitter, start: Limits, passed: str, y: str, z: str
) -> tuple[Limits, str]:
    """Emit the bounds of a line's vectors.

    Returns also whether none are possible, an i1. None are possible up to the lane number in
    `passed`, where the line ends.
    """
    w, peeling = rows.kernel.w, rows.peeling
    find, join = w.fresh("line"), w.fresh("line.found")
    end = w.emit(f"load i32, ptr {passed}")
    known = w.emit(f"icmp ult i32 {start.start}, {end}")
    before = w.label
    w.branch(known, join, find)
    w.block(find)
    limits = emit_steady_bounds(peeling, rows.kernel, lambda x: view_of(rows, 0, (x, y, z)), start)
    after = w.label
    w.block(join)

    def either(text: str, otherwise: str) -> str:
        return w.emit(f"phi i32 [ {otherwise}, %{before} ], [ {text}, %{after} ]")

    for name, value in list(peeling.periods.items()):
        peeling.periods[name] = uniform(value.dtype, either(value.text, "0"))
    low, high, line = (
        either(text, otherwise)
        for text, otherwise in ((limits.low, "0"), (limits.high, "0"), (limits.line, end))
    )
    return Limits(start.start, low, high, start.end, line), known


def _emit_passed(rows: RegionEmitter, slot: str, line: str, passed: str, moved: str) -> None:
    """Emit a store of a line's end into `passed`, if near.

    No vectors are tried before it. `moved` is whether the lanes before ran in vectors, an i1.
    """
    w = rows.kernel.w
    left = w.intrinsic("usub.sat", "i32", line, w.emit(f"load i32, ptr {slot}"))
    short = heuristics.MAX_SCALAR_TAIL_LANES + (0 if rows.again else rows.tile.step)
    ends = w.emit(f"and i1 {moved}, {w.emit(f'icmp ule i32 {left}, {short}')}")
    w.do(f"store i32 {w.emit(f'select i1 {ends}, i32 {line}, i32 0')}, ptr {passed}")


def _may_run_late(rows: RegionEmitter) -> bool:
    """True if a line's remainder is worth one more, masked vector.

    Where lanes may run twice, the last vector has overlapped the one before already. Variables that
    other regions read are written by all lanes of a vector.
    """
    tile = rows.tile
    plain = tile.width and tile.sieve is None and not rows.crossing.names
    return bool(plain) and rows.kernel.thorough and not rows.again


def _emit_late(rows: RegionEmitter, slot: str, high: str, y: str, z: str) -> None:
    """Emit the remainder before `high` as a masked, overlapping vector."""
    w, width = rows.kernel.w, rows.tile.width
    late, done = w.fresh("late"), w.fresh("late.done")
    now = w.emit(f"load i32, ptr {slot}")
    w.branch(w.emit(f"icmp ult i32 {now}, {high}"), late, done)
    w.block(late)
    first = w.emit(f"sub i32 {high}, {width}")
    end = w.fresh("late.end")
    emit_late_lanes(rows, (first, y, z), now, end)
    w.block(end)
    w.do(f"store i32 {high}, ptr {slot}")
    w.block(done)


__all__ = ["emit_edged_row"]
