"""Sequences as jobs of the thread pool, beside the same sequences made step by step."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

from tests.unit.backends.llvm.native_kernels import (
    COUNT_DOWN,
    HELLO,
    INCREMENT,
    KEEPS,
    PAIR,
    PASS_ON,
    PRINT,
    SCRATCH,
    SLOW,
    SPIN,
    TRAP,
    kernel,
)
from vyre.backends.llvm.backend import CpuBackend
from vyre.backends.llvm.device import HostMemory
from vyre.backends.llvm.executable import CpuExecutable
from vyre.backends.llvm.sequence import NativeSequence, native_sequence
from vyre.diagnostics import DeadlineError, TrapError
from vyre.driver.backend import Argument, Executable
from vyre.driver.sequence import (
    Add,
    Below,
    Branch,
    Clear,
    Copy,
    Jump,
    Launch,
    Load,
    Parameter,
    Place,
    Put,
    RunsSequences,
    Sequence,
    Step,
    Stop,
    Store,
    check,
    prepare,
)
from vyre.driver.stepwise import Stepwise

DEVICE = CpuBackend().device


def memory(count: int) -> tuple[HostMemory, np.ndarray]:
    """Memory for i32 elements, and its view."""
    made = DEVICE.allocate(4 * count)
    view = made.host_view()
    assert view is not None
    return made, np.frombuffer(view, np.int32)


def executable(source: str, **facts: object) -> Executable:
    return CpuExecutable(kernel(source, **facts))


def native(*steps: Step, counters: int = 0, parameters: int = 0) -> NativeSequence:
    sequence = Sequence(steps, counters, parameters)
    check(sequence)
    made = native_sequence(sequence)
    assert made is not None
    return made


def chain(count: int, phases: int, **facts: object) -> tuple[list[Step], np.ndarray]:
    """Launches that hand values on between two buffers, and the one that has them in the end."""
    one, first = memory(count)
    other, second = memory(count)
    passes = executable(PASS_ON, buffers=PAIR, **facts)
    steps: list[Step] = []
    for phase in range(phases):
        ends = (one, other) if phase % 2 == 0 else (other, one)
        bound = tuple(Argument(end, count) for end in ends)
        steps.append(Launch(passes, bound, (count, 1, 1)))
    return steps, second if phases % 2 else first


def test_the_cpu_runs_sequences_by_itself() -> None:
    assert isinstance(DEVICE, RunsSequences)
    steps, found = chain(100, 3)
    prepared = prepare(DEVICE, Sequence(tuple(steps)))
    assert isinstance(prepared, NativeSequence)
    assert prepared.run() is not None
    assert (found == 3).all()


@pytest.mark.parametrize("count", [1, 3, 1000, 50_000])
@pytest.mark.parametrize("facts", [{}, {"group_cost_ns": 1}, {"divergent": True, "polls": True}])
def test_a_phase_begins_when_the_one_before_is_done(count: int, facts: dict[str, object]) -> None:
    steps, found = chain(count, 40, **facts)
    prepared = native(*steps)
    for repeat in range(5):
        assert prepared.run() is not None
        assert (found == 40 * (repeat + 1)).all()


def test_launches_of_little_and_much_work_take_turns() -> None:
    steps, found = chain(20_000, 10)
    flag, word = memory(1)
    small = Launch(executable(INCREMENT, group_cost_ns=1), (Argument(flag, 1),), (1, 1, 1))
    prepared = native(*[each for step in steps for each in (step, small)])
    for repeat in range(20):
        assert prepared.run() is not None
        assert (found == 10 * (repeat + 1)).all()
        assert word[0] == 10 * (repeat + 1)


def test_a_loop_ends_when_the_device_says_so() -> None:
    left, word = memory(1)
    down = Launch(executable(COUNT_DOWN, group_cost_ns=1), (Argument(left, 1),), (1, 1, 1))
    steps = (Put(0, 0), down, Add(0, 1), Branch(Place(left), 0, to=6), Below(0, 50, to=1), Stop(7))
    prepared = native(*steps, counters=1)
    for wanted in (1, 5, 50):
        word[0] = wanted
        record = prepared.run()
        assert record is not None
        assert (record.stopped, record.counters, word[0]) == (0, (wanted,), 0)
    word[0] = 51
    record = prepared.run()
    assert record is not None
    assert (record.stopped, record.counters, word[0]) == (7, (50,), 1)


def test_counters_are_loaded_stored_and_compared() -> None:
    bounds, view = memory(4)
    numbers = view.view(np.uint64)
    out, stored = memory(2)
    numbers[:] = (1 << 63) - 2, (1 << 63) + 3
    for signed, expected in ((False, 5), (True, 0)):
        steps = (
            Put(2, 0),
            Load(0, Place(bounds)),
            Load(1, Place(bounds, 8)),
            Below(0, 1, to=5, is_counter=True, signed=signed),
            Jump(8),
            Add(0, 1),
            Add(2, 1),
            Jump(3),
            Store(2, Place(out), 4),
            Store(0, Place(out, 4), 2),
        )
        record = native(*steps, counters=3).run()
        assert record is not None
        assert record.counters[2] == expected
        assert stored[0] == expected


@pytest.mark.parametrize("nbytes", [0, 1, 4096, 65_536, 65_537, 5_000_001])
def test_memory_is_cleared_and_copied(nbytes: int) -> None:
    count = nbytes // 4 + 3
    one, source = memory(count)
    other, target = memory(count)
    source[:] = np.arange(count)
    target[:] = -1
    assert native(Copy(Place(one), Place(other, 4), nbytes)).run() is not None
    expected = np.full(4 * count, 255, np.uint8)
    expected[4 : 4 + nbytes] = source.view(np.uint8)[:nbytes]
    assert (target.view(np.uint8) == expected).all()
    assert native(Clear(Place(other, 4), nbytes)).run() is not None
    expected[4 : 4 + nbytes] = 0
    assert (target.view(np.uint8) == expected).all()


def test_arrays_are_parameters() -> None:
    increment = executable(INCREMENT)
    steps = (
        Launch(increment, (Parameter(0),), (5, 1, 1)),
        Copy(Place(Parameter(0)), Place(Parameter(1), 4), 8),
        Launch(increment, (Parameter(1),), (3, 1, 1)),
        Clear(Place(Parameter(0), 16), 4),
    )
    prepared = native(*steps, parameters=2)
    for length in (5, 9):
        one, other = np.zeros(length, np.int32), np.zeros(length, np.int32)
        assert prepared.run((one, other)) is not None
        assert one[:6].tolist() == [1, 1, 1, 1, 0, 0][:length]
        assert other[:5].tolist() == [1, 2, 2, 0, 0]
    data = np.zeros(8, np.int32)
    refused = [
        (data, data),
        (data[:5], data[4:]),
        (np.zeros(4, np.int32), data),
        (data, np.zeros(2, np.int32)),
        (data.astype(np.float32), np.zeros(8, np.int32)),
        (data, np.zeros(16, np.int32)[::2]),
    ]
    for arrays in refused:
        assert prepared.run(arrays) is None
    assert not data.any()
    with pytest.raises(TypeError):
        prepared.run((data,))


def test_parts_of_parameters_are_cleared_first() -> None:
    prepared = native(Launch(executable(INCREMENT), (Parameter(0),), (8, 1, 1)), parameters=1)
    data = np.full(8, 9, np.int32)
    runs = np.array([0, 4, 8, 1, 8], np.int64).tobytes()
    assert prepared.run((data,), clearing=runs) is not None
    assert data.tolist() == [10, 1, 1, 10, 10, 10, 10, 10]


@pytest.mark.parametrize("groups", [6, 10_000])
@pytest.mark.parametrize("cost", [0, 1])
def test_a_trap_names_its_step(groups: int, cost: int) -> None:
    steps, _ = chain(1000, 4)
    data, _ = memory(1)
    trap = Launch(executable(TRAP, group_cost_ns=cost), (Argument(data, 1),), (groups, 1, 1))
    after, untouched = memory(1)
    last = Launch(executable(INCREMENT), (Argument(after, 1),), (1, 1, 1))
    prepared = native(*steps[:2], trap, *steps[2:], last)
    for _ in range(3):
        with pytest.raises(TrapError) as caught:
            prepared.run()
        assert (caught.value.tag, caught.value.invocation) == ("second", (5, 6, 7))
        assert prepared.position == 2
        assert untouched[0] == 0


@pytest.mark.parametrize("groups", [1, 100])
def test_a_deadline_ends_a_sequence_in_a_launch(groups: int) -> None:
    steps, _ = chain(1000, 2)
    data, _ = memory(1)
    spin = Launch(executable(SPIN, polls=True), (Argument(data, 1),), (groups, 1, 1))
    prepared = native(*steps, spin)
    with pytest.raises(DeadlineError):
        prepared.run(deadline=0.05)
    assert prepared.position == 2


@pytest.mark.parametrize("cost", [0, 1])
def test_a_deadline_ends_a_loop_that_never_ends(cost: int) -> None:
    data, word = memory(1)
    step = Launch(executable(INCREMENT, group_cost_ns=cost), (Argument(data, 1),), (1, 1, 1))
    prepared = native(step, Jump(0))
    begun = time.perf_counter()
    with pytest.raises(DeadlineError):
        prepared.run(deadline=0.1)
    assert time.perf_counter() - begun < 5
    assert word[0] > 100


def test_a_loop_of_steps_without_a_launch_can_be_ended() -> None:
    with pytest.raises(DeadlineError):
        native(Jump(0)).run(deadline=0.05)


def test_threads_keep_totals_for_one_phase_only() -> None:
    total, word = memory(1)
    keeps = executable(KEEPS, keeps=True, scratch_bytes=64)
    steps, found = chain(5000, 2)
    slow = Launch(executable(SLOW), (Argument(total, 1),), (300, 1, 1))
    count = Launch(keeps, (Argument(total, 1),), (30_000, 1, 1))
    few = Launch(
        executable(KEEPS, keeps=True, scratch_bytes=64, group_cost_ns=1), count.arguments, (7, 1, 1)
    )
    prepared = native(count, steps[0], few, slow, count, steps[1])
    for repeat in range(10):
        assert prepared.run() is not None
        assert word[0] == 60_007 * (repeat + 1)
        assert (found == 2 * (repeat + 1)).all()


def test_scratch_memory_is_that_of_the_launch_that_needs_most() -> None:
    out, view = memory(5000)
    large = executable(SCRATCH, scratch_bytes=65_536)
    steps, _ = chain(5000, 1)
    prepared = native(*steps, Launch(large, (Argument(out, 5000),), (5000, 1, 1)))
    assert prepared.run() is not None
    assert (view == 2 * np.arange(5000)).all()


def test_what_the_pool_leaves_to_the_host() -> None:
    data, _ = memory(1)
    prints = Launch(executable(PRINT, prints=HELLO), (Argument(data, 1),), (2, 1, 1))
    sequence = Sequence((prints,))
    assert native_sequence(sequence) is None
    record = prepare(DEVICE, sequence).run()
    assert record is not None
    assert len(record.printed) == 2
    untold = Sequence((Clear(Place(Parameter(0)), 4),), parameters=1)
    assert native_sequence(untold) is None
    assert prepare(DEVICE, untold).run((np.zeros(1, np.int32),)) is None


@pytest.mark.parametrize(
    "step",
    [
        Jump(2),
        Put(1, 0),
        Below(0, 1, to=0, is_counter=True),
        Stop(0),
        Store(0, Place(DEVICE.allocate(4)), 3),
        Clear(Place(DEVICE.allocate(4), 1), 4),
        Branch(Place(DEVICE.allocate(4), -1), 0, to=0),
        Clear(Place(Parameter(0)), 4),
    ],
)
def test_steps_that_name_what_is_not_there_are_refused(step: Step) -> None:
    with pytest.raises(ValueError, match="step 0"):
        prepare(DEVICE, Sequence((step,), counters=1))


def test_several_threads_run_sequences_at_once() -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        steps, found = chain(500 + 700 * number, 12, group_cost_ns=number % 2 * 30)
        prepared = native(*steps)
        for repeat in range(60):
            prepared.run()
            if not (found == 12 * (repeat + 1)).all():
                failures.append((number, repeat))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_times_are_those_of_the_launches() -> None:
    data, _ = memory(1)
    slow = Launch(executable(SLOW), (Argument(data, 1),), (400, 1, 1))
    small = Launch(executable(INCREMENT, group_cost_ns=1), (Argument(data, 1),), (1, 1, 1))
    prepared = native(Put(0, 0), slow, small, slow, Add(0, 1), Below(0, 3, to=1), counters=1)
    assert prepared.run() is not None
    [(first, spent, times), (second, *_)] = prepared.take_times()
    assert (first, second, times) == (1, 3, 3)
    assert spent > 3 * 400 * 500
    assert prepared.take_times() == []


def _random_steps(seed: int) -> tuple[Sequence, list[np.ndarray], HostMemory]:
    """A sequence over three buffers and three counters that ends by itself."""
    draw = random.Random(seed)
    count = draw.choice([1, 7, 600, 3000])
    made = [memory(count) for _ in range(3)]
    flags, words = memory(4)
    words[:] = [draw.randrange(2) for _ in range(4)]
    passes = [executable(PASS_ON, buffers=PAIR, group_cost_ns=cost) for cost in (0, 1)]
    steps: list[Step] = []
    length = draw.randrange(4, 14)
    for at in range(length):
        one, other = draw.sample(made, 2)
        place = Place(flags, 4 * draw.randrange(4))
        ahead = draw.randrange(at + 1, length + 1)
        bound = Argument(one[0], count), Argument(other[0], count)
        grid = (draw.choice([0, 1, count]), 1, 1)
        choices: list[Step] = [
            Launch(draw.choice(passes), bound, grid),
            Launch(draw.choice(passes), bound, (count, 1, 1)),
            Clear(Place(one[0]), 4 * draw.randrange(count + 1)),
            Copy(Place(one[0]), Place(other[0]), 4 * draw.randrange(count + 1)),
            Put(draw.randrange(2), draw.randrange(-3, 3)),
            Add(draw.randrange(2), draw.randrange(-3, 3)),
            Store(draw.randrange(2), place, 4),
            Branch(place, draw.randrange(2), ahead, draw.random() < 0.5),
            Below(draw.randrange(2), draw.randrange(-2, 3), ahead, signed=draw.random() < 0.5),
            Jump(ahead) if draw.random() < 0.3 else Add(0, 1),
            Stop(9) if draw.random() < 0.2 else Add(1, 1),
        ]
        steps.append(draw.choice(choices))
    # Once more from the start, up to three times.
    steps += [Add(2, 1), Below(2, draw.randrange(1, 4), to=0)]
    return Sequence(tuple(steps), 3), [words, *(view for _, view in made)], flags


@pytest.mark.parametrize("seed", range(60))
def test_the_pool_does_what_the_steps_mean(seed: int) -> None:
    sequence, ours, _ = _random_steps(seed)
    native_one = native_sequence(sequence)
    assert native_one is not None
    record = native_one.run()
    again, expected, _ = _random_steps(seed)
    meant = Stepwise(again).run()
    assert record is not None
    assert meant is not None
    assert (record.stopped, record.counters) == (meant.stopped, meant.counters)
    for one, other in zip(ours, expected, strict=True):
        assert (one == other).all()
