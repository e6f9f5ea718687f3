"""Legality of a group of stages that hand over tiles: the numbered conditions on their accesses.

L1  every access to a value is linear in the number of the invocation, and strides are positive
L3  an invocation stores less than a stride apart, so that no element has two writers
L5  lengths and invocations stay below 2**28, so that no number of a tile wraps
L6  what is run twice has no atomics, prints or traps, and reads nothing that it writes
L7  nothing that a stage reads in memory is written by a stage of the group
L10 stages have no barriers, no memory of a workgroup and no ids but their own number

A condition that is not proven counts as failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vyre import ir
from vyre.analysis import body_effects
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.plan.access_forms import Access, accesses_of_launch
from vyre.plan.interior import Interior
from vyre.plan.linear_forms import ALL, Span
from vyre.plan.tile_plan import Refusal, Seam, Stage, Value

MOST = 1 << 28
"""Elements and invocations."""
_MEETING = (
    *(ir.Barrier, ir.AsyncLoad, ir.AsyncStore, ir.AsyncWait, ir.IndirectDispatch, ir.Opaque),
    *(ir.AllReduce, ir.AllGather, ir.ReduceScatter, ir.Broadcast, ir.Return),
)
_LANES = (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)


def stage_refusal(stage: Stage) -> Refusal | None:
    """Why the invocations of a stage cannot be given to other workgroups."""
    program = stage.program
    at = f"{stage.name}, line {stage.line}"
    if program.workgroup_size[1:] != (1, 1):
        return Refusal("L10", f"workgroups of {at}, have more than one row")
    if any(decl.is_workgroup for decl in program.buffers):
        return Refusal("L10", f"{at}, has workgroup memory")
    if any(isinstance(each, _MEETING) for each in walk_stmts(program.entry)):
        return Refusal("L10", f"invocations of {at}, wait for each other")
    for node in walk_all_exprs(program.entry):
        if isinstance(node, _LANES):
            return Refusal("L10", f"{at}, exchanges values in a subgroup")
        if isinstance(node, ir.Builtin) and node.kind is not ir.BuiltinKind.GLOBAL_ID:
            return Refusal("L10", f"{at}, uses {node.kind.name.lower()}")
    numbers = (stage.launched.invocations, *stage.launched.lengths.values())
    if max(numbers) >= MOST:
        return Refusal("L5", f"{at}, has {max(numbers)} invocations or elements")
    effects = body_effects(program.entry)
    if effects.traps or effects.prints:
        return Refusal("L6", f"{at}, prints or traps")
    return None


def accesses_of_stage(stage: Stage) -> list[Access]:
    """All accesses of a stage."""
    span = Span(0, stage.launched.invocations - 1)
    return accesses_of_launch(stage.program, stage.launched, span)


def is_guarded(stage: Stage) -> bool:
    """True if invocations beyond those of the launch would store nothing."""
    found = accesses_of_launch(stage.program, stage.launched, ALL)
    last = stage.launched.invocations
    return all(each.span.last < last for each in found if each.is_store)


def seam_of(
    value: Value,
    stages: Sequence[Stage],
    accesses: Sequence[Sequence[Access]],
    interiors: Sequence[Interior],
) -> Seam | Refusal:
    """How a value passes between stages, or why it cannot in a tile."""
    writers = [n for n, own in enumerate(accesses) if _uses(own, value, is_store=True)]
    readers = [n for n, own in enumerate(accesses) if _uses(own, value, is_store=False)]
    if len(writers) != 1:
        return Refusal("L3", f"{value.shown} is written by {len(writers)} stages")
    [producer] = writers
    if any(reader <= producer for reader in readers):
        return Refusal("L6", f"{stages[producer].name} reads {value.shown}, which it writes")
    written = _bounds(value, stages[producer], accesses[producer])
    if isinstance(written, Refusal):
        return written
    stride, low, high = written
    if high - low >= stride:
        return Refusal(
            "L3", f"an element of {value.shown} has two writers in {_at(stages[producer])}"
        )
    reads: list[tuple[int, int, int, int]] = []
    for reader in readers:
        found = _bounds(value, stages[reader], accesses[reader])
        if isinstance(found, Refusal):
            return found
        reads.append((reader, *found))
    dense = _is_dense(value, stages[producer], interiors[producer])
    return Seam(value, producer, stride, low, high, dense, tuple(reads))


def _at(stage: Stage) -> str:
    return f"{stage.name}, line {stage.line}"


def _uses(accesses: Sequence[Access], value: Value, *, is_store: bool) -> bool:
    return any(each.buffer == value.name and each.is_store is is_store for each in accesses)


def _bounds(
    value: Value, stage: Stage, accesses: Sequence[Access]
) -> tuple[int, int, int] | Refusal:
    """The stride of a stage's accesses to a value, and their lowest and highest offset."""
    found: list[tuple[int, int, int]] = []
    for each in accesses:
        if each.buffer != value.name:
            continue
        kind = "atomic" if each.is_atomic else "store" if each.is_store else "load"
        at = f"the {kind} of {value.shown} in {stage.name}, line {each.line}"
        if each.is_atomic:
            return Refusal("L6", f"{at}, cannot be run twice")
        if each.form is None:
            return Refusal("L1", f"{at}, is not linear in the invocation's number")
        if each.form.a <= 0:
            return Refusal("L1", f"{at}, does not move with the invocation's number")
        found.append(each.form[:3])
    if len({stride for stride, _, _ in found}) > 1:
        return Refusal("L1", f"accesses to {value.shown} in {_at(stage)}, have several strides")
    return found[0][0], min(low for _, low, _ in found), max(high for _, _, high in found)


def _is_dense(value: Value, stage: Stage, interior: Interior) -> bool:
    """Whether every element of a value inside of its buffer is stored, on every way."""
    written = interior.written.get(value.name)
    if written is None:
        return False
    first = min(written.offsets)
    if written.offsets != frozenset(range(first, first + written.a)):
        return False
    span = written.span.meet(Span(0, stage.launched.invocations - 1))
    begins = written.a * span.first + first <= 0
    return begins and written.a * (span.last + 1) + first >= value.length


def memory_refusal(
    stages: Sequence[Stage],
    accesses: Sequence[Sequence[Access]],
    seams: Mapping[str, Seam],
    owners: Mapping[str, int],
) -> Refusal | None:
    """What forbids to fuse in the use of memory; `owners` tells arrays apart."""
    producers = {seam.producer for seam in seams.values()}
    for writer, own in enumerate(accesses):
        for each in own:
            if not each.is_store or each.buffer not in owners:
                continue
            if writer in producers and each.is_atomic:
                return Refusal("L6", f"{_at(stages[writer])}, is run twice and has an atomic")
            if _is_only_tile(each.buffer, seams):
                continue
            for reader, others in enumerate(accesses):
                if reader == writer and writer not in producers:
                    continue
                same = [o for o in others if owners.get(o.buffer) == owners[each.buffer]]
                for other in same:
                    if not _is_harmless(each, other, seams, is_same=reader == writer):
                        return _dependence(stages[writer], each, stages[reader], other)
    return None


def _dependence(writer: Stage, store: Access, reader: Stage, other: Access) -> Refusal:
    kind = "writes" if other.is_store else "reads"
    one = f"{reader.name}, line {other.line}, {kind}"
    return Refusal("L7", f"{one} what {writer.name}, line {store.line}, writes")


def _is_harmless(store: Access, other: Access, seams: Mapping[str, Seam], *, is_same: bool) -> bool:
    """Whether another access to an array that is stored to meets no element in memory."""
    if _is_only_tile(other.buffer, seams):
        return True
    if other.buffer == store.buffer and store.buffer in seams:
        return True
    return is_same and other.is_store


def _is_only_tile(buffer: str, seams: Mapping[str, Seam]) -> bool:
    return buffer in seams and not seams[buffer].value.is_wanted
