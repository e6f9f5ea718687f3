"""Faults planted into counted scratch and loops: each differs from the stages apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import counted, loops
from tests.unit.pipelines.suite import bits, copies, floats
from vyre import ir
from vyre.diagnostics import PlanError
from vyre.pipelines import ahead, call_memory, count_checks, counted_launch, hidden, loop_sequence
from vyre.pipelines import loops as looping
from vyre.pipelines import planned as planning
from vyre.plan import counted as counting

Plant = Callable[[pytest.MonkeyPatch], None]
Case = tuple[Any, tuple[Any, ...]]

COUNTED: list[Case] = [
    (counted.selected, (counted.words(100), 20, 1)),
    (counted.counts_of_counts, (counted.words(200), 30, counted.sixteen())),
    (counted.beyond_the_count, (5, 100, np.zeros(150, np.uint32))),
    (counted.again_and_again, (counted.words(200), 9, counted.sixteen())),
    (counted.long, (4_250_001, 4_300_000, np.zeros(16, np.uint32))),
]
LOOPS: list[Case] = [
    (loops.ping_pong, (floats(100), loops.number(0), loops.number(0))),
    (loops.ping_pong, (floats(100), loops.number(4), loops.number(0))),
    (loops.ping_pong, (floats(100), loops.number(5), loops.number(0))),
    (loops.outputs, (np.arange(100, dtype=np.uint32), loops.number(5), np.zeros(8, np.uint32))),
    (loops.branches, (floats(128), *(loops.number(each) for each in (24, 0, 0)))),
]


def differs(cases: list[Case], device: str) -> bool:
    """True if a call does not give what its stages give apart."""
    for pipeline, given in cases:
        pipeline.forget()
        expected = copies(given)
        results = bits(pipeline.apart(*expected, device=device))
        for _ in range(2):
            own = copies(given)
            try:
                found = bits(pipeline(*own, device=device))
            except PlanError:
                return True
            if found != results or bits(own) != bits(expected):
                return True
    return False


def stale_count(patch: pytest.MonkeyPatch) -> None:
    """The length is the room, whatever the count says."""
    real = counting.with_counts

    def without(program: ir.Program, counts: Any) -> ir.Program:
        patch.setattr(ir.Expr, "min_", classmethod(lambda cls, left, right: right))
        try:
            return real(program, counts)
        finally:
            patch.undo()
            stale_count(patch)

    patch.setattr(counted_launch, "with_counts", without)


def loads_not_guarded(patch: pytest.MonkeyPatch) -> None:
    """Elements beyond the count are what memory holds."""
    patch.setattr(counting._Guarded, "_index", lambda self, buffer, written, index, facts: index)


def counts_cut(patch: pytest.MonkeyPatch) -> None:
    """A count above the room is taken as the room."""
    patch.setattr(count_checks.Rooms, "grow", lambda self, room, count: None)
    real = count_checks.CountChecks.look

    def look(self: Any, read: Any) -> Any:
        try:
            return real(self, read)
        except count_checks.RunAgain:
            return {}

    patch.setattr(count_checks.CountChecks, "look", look)
    patch.setattr(planning.Planned, "returned", lambda self, a: self.memory_of(planning.plain(a)))


def arguments_not_restored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planning.Planned, "restore", lambda self: None)


def overwritten_counts_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(count_checks.CountChecks, "before", lambda self, step: [])


def strides_dropped(patch: pytest.MonkeyPatch) -> None:
    """The capped grid does its own part and no more."""
    patch.setattr(counted_launch, "strided", lambda program, needed: program)


def parity_swapped(patch: pytest.MonkeyPatch) -> None:
    """A replayed iteration leaves names as they were before it."""
    patch.setattr(looping.State, "restore", lambda self, frame: None)


def states_alike(patch: pytest.MonkeyPatch) -> None:
    """Iterations are replayed whatever names stand for."""
    patch.setattr(looping.Loop, "_key", lambda self, actions: "one")


def flags_of_the_first_iteration(patch: pytest.MonkeyPatch) -> None:
    """A branch goes on as it went first."""
    real = call_memory.CallMemory.words
    first: dict[int, int] = {}

    def words(self: Any, buffers: Any) -> list[int]:
        found = real(self, buffers)
        return [first.setdefault(id(b), n) for b, n in zip(buffers, found, strict=True)]

    patch.setattr(call_memory.CallMemory, "words", words)


@pytest.mark.parametrize(
    "plant",
    [
        stale_count,
        loads_not_guarded,
        counts_cut,
        arguments_not_restored,
        overwritten_counts_not_looked_at,
        strides_dropped,
    ],
    ids=lambda plant: plant.__name__,
)
def test_a_fault_in_counts_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differs(COUNTED, "cpu")
    plant(monkeypatch)
    try:
        assert differs(COUNTED, "cpu")
    finally:
        monkeypatch.undo()
        for pipeline, _ in COUNTED:
            pipeline.forget()


def cycle_miscounted(patch: pytest.MonkeyPatch) -> None:
    """Iterations that the device ran by itself are one more than it says."""
    real = loop_sequence.LoopSequence.run

    def run(self: Any, clock: Any, depth: int, done: int) -> Any:
        found = real(self, clock, depth, done)
        return None if found is None else replace(found, iterations=found.iterations + 1)

    patch.setattr(loop_sequence.LoopSequence, "run", run)


def branches_of_a_cycle_swapped(patch: pytest.MonkeyPatch) -> None:
    real = loop_sequence.LoopSequence._branch

    def branch(self: Any, item: Any) -> bool:
        return real(self, replace(item, then=item.otherwise, otherwise=item.then))

    patch.setattr(loop_sequence.LoopSequence, "_branch", branch)


@pytest.mark.parametrize(
    "plant",
    [
        parity_swapped,
        states_alike,
        flags_of_the_first_iteration,
        cycle_miscounted,
        branches_of_a_cycle_swapped,
    ],
    ids=lambda plant: plant.__name__,
)
def test_a_fault_in_loops_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differs(LOOPS, "cpu")
    plant(monkeypatch)
    try:
        assert differs(LOOPS, "cpu")
    finally:
        monkeypatch.undo()
        for pipeline, _ in LOOPS:
            pipeline.forget()


def one_iteration_too_many(patch: pytest.MonkeyPatch) -> None:
    """The first iteration is followed by another, whatever the flag says."""
    expr, node = ir.Expr, ir.Node
    is_first = expr.load("iterations", 0).eq(expr.u32(0))
    goes_on = expr.load("flag", 0).ne(expr.u32(0)) | is_first
    body = ir.Block(
        (
            node.let("next", expr.select(goes_on, expr.load("going", 0), expr.u32(0))),
            node.store("iterations", 0, expr.load("iterations", 0) + expr.load("going", 0)),
            node.store("going", 0, expr.var("next")),
        )
    )
    late = hidden._of_words(("flag",), ("going", "iterations"), body)
    patch.setattr(hidden, "end_iteration", lambda: late)


def stages_not_predicated(patch: pytest.MonkeyPatch) -> None:
    real = ahead.predicated

    def always(program: ir.Program, going: str, outputs: Any) -> ir.Program:
        return real(program, going, outputs).with_rewritten_entry(program.entry)

    patch.setattr(ahead, "predicated", always)


def outputs_not_cleared(patch: pytest.MonkeyPatch) -> None:
    """`Out` is not zero in the second iteration."""
    patch.setattr(ahead, "_is_filled", lambda step, name: True)


def both_branches_taken(patch: pytest.MonkeyPatch) -> None:
    real = ahead.Predicates.choose

    def choose(self: Any, flag: Any, span: Any) -> Any:
        then, _, launch = real(self, flag, span)
        return then, then, launch

    patch.setattr(ahead.Predicates, "choose", choose)


@pytest.mark.device
@pytest.mark.parametrize(
    "plant",
    [
        one_iteration_too_many,
        stages_not_predicated,
        outputs_not_cleared,
        both_branches_taken,
        parity_swapped,
    ],
    ids=lambda plant: plant.__name__,
)
def test_a_fault_in_iterations_ahead_is_found(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    try:
        assert differs(LOOPS, "wgpu:0")
    finally:
        monkeypatch.undo()
        for pipeline, _ in LOOPS:
            pipeline.forget()


def test_returned_counted_scratch_is_new_in_every_call() -> None:
    x = vy.array(counted.words(300))
    first = counted.selected(x, 20, 1)
    before = first.numpy()
    second = counted.selected(vy.array(np.zeros(300, np.uint32)), 20, 1)
    np.testing.assert_array_equal(first.numpy(), before)
    assert second.numpy().tolist() == [1] * 300
