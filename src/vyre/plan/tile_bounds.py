"""Bounds inference: which invocations and elements each workgroup of a tiled launch has.

L2  strides of writers and readers are commensurable: whole invocations of every stage per workgroup
L4  tiles that are alive at once fit in workgroup memory, halos included
L11 the grid fits the device

A reader at stride a with offsets [low, high] that runs invocations [f, e) needs the elements
[a·f + low, a·(e - 1) + high]; a writer runs all invocations that may store one of them. Going
backwards through the stages, halos add up, and ratios scale them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

from vyre import ir
from vyre.plan.interior import Interior
from vyre.plan.linear_forms import Span
from vyre.plan.tile_plan import (
    Machine,
    Refusal,
    Seam,
    Stage,
    StageRange,
    Tile,
    TileLaunch,
    TilePlan,
)

_VECTOR = 32
"""Rows of a CPU are multiples of this: no vector is left over."""
_MOST_ROWS = 4096
_SCALES = (*range(_MOST_ROWS, 0, -_VECTOR), 16, 8, 4, 2, 1)


def steps_of(stages: Sequence[Stage], seams: Sequence[Seam]) -> list[int] | Refusal:
    """The least whole numbers of invocations per workgroup."""
    rates: dict[int, Fraction] = {0: Fraction(1)}
    while len(rates) < len(stages):
        before = len(rates)
        for seam in seams:
            for reader, stride, _, _ in seam.reads:
                if seam.producer in rates:
                    rate = rates[seam.producer] * seam.write_stride / stride
                    rates.setdefault(reader, rate)
                elif reader in rates:
                    rates[seam.producer] = rates[reader] * stride / seam.write_stride
        if len(rates) == before:
            return Refusal("L2", "its stages are not connected by tiles")
    for seam in seams:
        for reader, stride, _, _ in seam.reads:
            if rates[reader] * stride != rates[seam.producer] * seam.write_stride:
                one, two = stages[seam.producer].name, stages[reader].name
                why = f"{one} and {two} advance at different rates through {seam.value.shown}"
                return Refusal("L2", why)
    whole = lcm(*(rate.denominator for rate in rates.values()))
    steps = [int(rates[number] * whole) for number in range(len(stages))]
    common = gcd(*steps)
    return [step // common for step in steps]


def ranges_of(
    steps: Sequence[int], seams: Sequence[Seam], owners: frozenset[int]
) -> list[tuple[int, int]]:
    """The first invocation of each stage, and how many it has beyond its step."""
    found: dict[int, tuple[int, int]] = dict.fromkeys(owners, (0, 0))
    for stage in reversed(range(len(steps))):
        for seam in seams:
            if seam.producer != stage:
                continue
            for reader, stride, low, high in seam.reads:
                first, beyond = found[reader]
                lowest = stride * first + low
                highest = stride * (beyond - 1) + high
                need = -((seam.write_high - lowest) // seam.write_stride)
                after = (highest - seam.write_low) // seam.write_stride + 1
                known = found.get(stage, (need, after))
                found[stage] = (min(known[0], need), max(known[1], after))
    return [found[stage] for stage in range(len(steps))]


def bounded(
    stages: Sequence[Stage],
    seams: Sequence[Seam],
    guarded: Sequence[bool],
    owners: frozenset[int],
    lengths: Mapping[str, int],
    machine: Machine,
) -> TilePlan | Refusal:
    """The largest tiles that fit; `lengths` are those of buffers in memory."""
    units = steps_of(stages, seams)
    if isinstance(units, Refusal):
        return units
    for scale in _SCALES:
        steps = [unit * scale for unit in units]
        plan = _plan(steps, seams, guarded, owners, lengths, machine)
        rows = max(each.rows for each in plan.stages)
        most = min(_MOST_ROWS, machine.most_lanes) if machine.in_one_row else _MOST_ROWS
        if _bytes(plan, machine) <= machine.most_bytes and (rows <= most or scale == 1):
            return plan
    smallest = _bytes(_plan(units, seams, guarded, owners, lengths, machine), machine)
    why = f"its smallest tiles have {smallest} bytes, and {machine.most_bytes} are left"
    return Refusal("L4", why)


def _bytes(plan: TilePlan, machine: Machine) -> int:
    return sum(size * machine.bytes_of(element) for element, size in plan.slots)


def _plan(
    steps: Sequence[int],
    seams: Sequence[Seam],
    guarded: Sequence[bool],
    owners: frozenset[int],
    lengths: Mapping[str, int],
    machine: Machine,
) -> TilePlan:
    stages: list[StageRange] = []
    producers = {seam.producer for seam in seams}
    for number, (first, beyond) in enumerate(ranges_of(steps, seams, owners)):
        rows = steps[number] + beyond - first
        if machine.in_one_row and number in producers and rows % _VECTOR:
            rows += _VECTOR - rows % _VECTOR
        stages.append(StageRange(steps[number], first, rows, guarded[number]))
    lanes = max(each.rows for each in stages)
    if machine.in_one_row and lanes % _VECTOR:
        lanes += _VECTOR - lanes % _VECTOR
    lanes = min(machine.most_lanes, lanes)
    return _placed(lanes, stages, seams, lengths)


def _placed(
    lanes: int, stages: Sequence[StageRange], seams: Sequence[Seam], lengths: Mapping[str, int]
) -> TilePlan:
    """Tiles for the values; those whose lives are disjoint share memory."""
    tiles: dict[str, Tile] = {}
    slots: list[tuple[ir.DataType, int]] = []
    free_after: list[int] = []
    for seam in sorted(seams, key=lambda each: each.producer):
        writer = stages[seam.producer]
        ends = [_elements(writer, seam.write_stride, seam.write_low, seam.write_high)]
        ends += [_elements(stages[r], a, low, high) for r, a, low, high in seam.reads]
        first, end = min(low for low, _ in ends), max(high for _, high in ends) + 1
        element, size = seam.value.element, end - first
        slot = next(
            (
                number
                for number, (held, _) in enumerate(slots)
                if held is element and _is_free(free_after[number], seam.producer)
            ),
            len(slots),
        )
        is_new = slot == len(slots)
        if is_new:
            slots.append((element, size))
            free_after.append(0)
        slots[slot] = (element, max(size, slots[slot][1]))
        free_after[slot] = max((reader for reader, _, _, _ in seam.reads), default=seam.producer)
        same = [name for name, length in lengths.items() if length == seam.value.length]
        tiles[seam.value.name] = Tile(
            writer.step * seam.write_stride,
            first,
            size,
            slot,
            # Workgroup memory is zero when a workgroup begins.
            not (seam.is_dense or is_new),
            seam.value.is_wanted,
            same[0] if same else "",
        )
    return TilePlan(lanes, tuple(stages), tiles, tuple(slots))


def _is_free(last_reader: int, producer: int) -> bool:
    """Whether a tile can be filled anew: a barrier stands after its last reader."""
    return last_reader < producer


def _elements(stage: StageRange, stride: int, low: int, high: int) -> tuple[int, int]:
    """The first and the last element, relative to the step of a workgroup."""
    last = stage.first + stage.rows - 1
    return stride * stage.first + low, stride * last + high


def launched(
    stages: Sequence[Stage],
    interiors: Sequence[Interior],
    seams: Sequence[Seam],
    owners: frozenset[int],
    plan: TilePlan,
) -> TileLaunch:
    """The numbers of a call: its grid, and the workgroups in the interior of every stage."""
    first, last = 0, (1 << 31) - 1
    groups, run, needed = 0, 0, 0
    for number, (stage, bounds) in enumerate(zip(stages, plan.stages, strict=True)):
        span = _with_loads_inside(number, interiors[number].span, seams)
        first = max(first, -((bounds.first - span.first) // bounds.step))
        last = min(last, (span.last - bounds.first - bounds.rows + 1) // bounds.step)
        total = stage.launched.invocations
        if number in owners:
            groups = max(groups, -(-total // bounds.step))
        run, needed = run + bounds.rows, needed + bounds.step
    totals = tuple(stage.launched.invocations for stage in stages)
    return TileLaunch(groups, first, max(last - first + 1, 0), totals, run / needed - 1)


def _with_loads_inside(number: int, span: Span, seams: Sequence[Seam]) -> Span:
    """The invocations whose loads from tiles are inside of the buffers."""
    for seam in seams:
        for reader, stride, low, high in seam.reads:
            if reader == number:
                first = -(low // stride)
                span = span.meet(Span(first, (seam.value.length - 1 - high) // stride))
    return span
