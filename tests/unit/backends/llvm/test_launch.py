from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

from tests.unit.backends.llvm.native_kernels import (
    GRID,
    HELLO,
    INCREMENT,
    PRINT,
    SCRATCH,
    SLOW,
    SPIN,
    TRAP,
    address,
    kernel,
)
from vyre.backends.llvm import pool
from vyre.backends.llvm.kernel_info import BufferSlot
from vyre.backends.llvm.outcome import Outcome, Status, read_outcome


@pytest.mark.parametrize("groups", [1, 2, 7, 1000, 100_003])
@pytest.mark.parametrize("facts", [{}, {"group_cost_ns": 1}, {"divergent": True, "polls": True}])
def test_every_group_runs_once(groups: int, facts: dict[str, object]) -> None:
    data = np.zeros(groups, np.int32)
    launch = kernel(INCREMENT, **facts).bind([address(data)], (groups, 1, 1), keep=data)
    for _ in range(3):
        assert launch() is None
    assert (data == 3).all()


def test_groups_are_counted_in_three_dimensions() -> None:
    data = np.zeros(2 * 3 * 5, np.int32)
    kernel(INCREMENT).launch_raw([address(data)], (2, 3, 5))
    assert (data == 1).all()
    kernel(GRID).launch_raw([address(data)], (2, 1, 1))
    assert data[:3].tolist() == [2, 1, 1]


def test_an_empty_grid_runs_nothing() -> None:
    data = np.zeros(4, np.int32)
    assert kernel(INCREMENT).launch_raw([address(data)], (0, 1, 1)) is None
    assert (data == 0).all()


def test_a_grid_that_cannot_be_counted_is_refused() -> None:
    data = np.zeros(4, np.int32)
    most = (1 << 32) - 1
    outcome = kernel(INCREMENT).launch_raw([address(data)], (most, most, most))
    assert outcome is not None
    assert outcome.status is Status.BAD_GRID
    outcome = kernel(INCREMENT).launch_raw([address(data)], (1 << 32, 1, 1))
    assert outcome is not None
    assert outcome.status is Status.BAD_GRID


def test_arrays_are_parsed_and_cover_the_grid() -> None:
    launch = kernel(INCREMENT).arrays()
    for size in (1, 5, 4096):
        data = np.zeros(size, np.int32)
        assert launch(data) is None
        assert (data == 1).all()
    data = np.zeros(8, np.int32)
    assert launch(data, 3, 1, 1) is None
    assert data.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_arrays_with_a_fixed_grid() -> None:
    data = np.zeros(8, np.int32)
    assert kernel(INCREMENT).arrays((2, 1, 1))(data) is None
    assert data.sum() == 2


READ_ONLY = np.zeros(4, np.int32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "argument",
    [
        np.zeros(4, np.float32),
        np.zeros(4, np.int16),
        np.zeros(8, np.int32)[::2],
        np.zeros(4, ">i4"),
        np.zeros(4, [("a", "i4")]),
        READ_ONLY,
        [1, 2, 3],
        None,
    ],
)
def test_unusable_arrays_are_refused(argument: object) -> None:
    outcome = kernel(INCREMENT).arrays()(argument)
    assert outcome == Outcome(Status.BAD_ARGUMENT, argument=0)


def test_arrays_that_share_written_memory_are_refused() -> None:
    slots = (BufferSlot("counters", "i32", 4, True), BufferSlot("others", "i32", 4, False))
    launch = kernel(INCREMENT, buffers=slots).arrays((1, 1, 1))
    data = np.arange(8, dtype=np.int32)
    assert launch(data[:4], data[4:]) is None
    for first in (1, 4, 7):
        before = data.copy()
        outcome = launch(data[:first], data[first - 1 :])
        assert outcome == Outcome(Status.BAD_ARGUMENT, argument=0)
        assert (data == before).all()


@pytest.mark.parametrize("arguments", [(), (np.zeros(4, np.int32), 1)])
def test_a_wrong_number_of_arguments_is_a_type_error(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        kernel(INCREMENT).arrays()(*arguments)


def test_a_grid_that_is_no_integer_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        kernel(INCREMENT).arrays()(np.zeros(4, np.int32), "x", 1, 1)


def test_a_launch_function_keeps_what_it_needs() -> None:
    data = np.zeros(4, np.int32)
    launch = kernel(INCREMENT).bind([address(data)], (4, 1, 1), keep=data)
    gc.collect()
    assert launch() is None
    assert (data == 1).all()


@pytest.mark.parametrize("groups", [1, 1000])
def test_a_deadline_ends_an_endless_kernel(groups: int) -> None:
    data = np.zeros(4, np.int32)
    launch = kernel(SPIN, polls=True).bind([address(data)], (groups, 1, 1), timeout=0.05)
    for _ in range(3):
        start = time.perf_counter()
        assert launch() == Outcome(Status.DEADLINE)
        assert 0.04 < time.perf_counter() - start < 1.0


@pytest.mark.parametrize("threads", [0, 1])
@pytest.mark.parametrize("cost", [0, 2000])
def test_a_deadline_ends_a_long_grid_of_short_groups(threads: int, cost: int) -> None:
    data = np.zeros(4, np.int32)
    slow = kernel(SLOW, group_cost_ns=cost)
    launch = slow.bind([address(data)], (100_000_000, 1, 1), timeout=0.05, threads=threads)
    start = time.perf_counter()
    assert launch() == Outcome(Status.DEADLINE)
    assert time.perf_counter() - start < 1.0


def test_a_launch_works_after_a_deadline() -> None:
    data = np.zeros(1000, np.int32)
    kernel(SPIN, polls=True).launch_raw([address(data)], (64, 1, 1), 0.01)
    assert kernel(INCREMENT).launch_raw([address(data)], (1000, 1, 1)) is None
    assert (data == 1).all()


def test_a_trap_names_its_tag_and_invocation() -> None:
    data = np.zeros(4, np.int32)
    for facts in ({}, {"group_cost_ns": 1}, {"divergent": True}):
        outcome = kernel(TRAP, **facts).launch_raw([address(data)], (100, 1, 1))
        assert outcome == Outcome(Status.TRAP, "second", (5, 6, 7))


def test_prints_come_back_formatted() -> None:
    data = np.zeros(4, np.int32)
    shout = kernel(PRINT, prints=HELLO)
    outcome = shout.launch_raw([address(data)], (3, 1, 1))
    assert outcome is not None
    assert sorted(outcome.printed) == [f"({i}, 0, 0) group {i} says 1.5" for i in range(3)]
    assert not outcome.lost_prints
    again = shout.launch_raw([address(data)], (1, 1, 1))
    assert again is not None
    assert again.printed == ("(0, 0, 0) group 0 says 1.5",)


def test_prints_that_do_not_fit_are_lost_and_said_so() -> None:
    data = np.zeros(4, np.int32)
    outcome = kernel(PRINT, prints=HELLO).launch_raw([address(data)], (100_000, 1, 1))
    assert outcome is not None
    assert outcome.lost_prints
    assert len(outcome.printed) == (1 << 16) // 5


def test_a_printing_kernel_that_is_silent_has_nothing_to_tell() -> None:
    assert read_outcome((0, 0, 0, 0, 0, 0), kernel(PRINT, prints=HELLO).info, None) is None


def test_scratch_memory_is_as_large_as_asked_for() -> None:
    data = np.zeros(5000, np.int32)
    launch = kernel(SCRATCH, scratch_bytes=65536).bind([address(data)], (5000, 1, 1), keep=data)
    for _ in range(20):
        assert launch() is None
    assert (data == 2 * np.arange(5000)).all()


def test_scratch_memory_that_is_not_to_be_had() -> None:
    data = np.zeros(4, np.int32)
    outcome = kernel(SCRATCH, scratch_bytes=1 << 60).launch_raw([address(data)], (4, 1, 1))
    assert outcome == Outcome(Status.NO_MEMORY)


def test_launches_from_many_threads_share_the_pool() -> None:
    shared = kernel(INCREMENT)
    arrays = [np.zeros(3000, np.int32) for _ in range(16)]

    def work(data: np.ndarray) -> None:
        launch = shared.bind([address(data)], (3000, 1, 1), keep=data)
        for _ in range(50):
            launch()

    threads = [threading.Thread(target=work, args=(data,)) for data in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((data == 50).all() for data in arrays)


def test_the_interpreter_runs_while_a_kernel_does() -> None:
    data = np.zeros(4, np.int32)
    launch = kernel(SPIN, polls=True).bind([address(data)], (8, 1, 1), timeout=0.2)
    thread = threading.Thread(target=launch)
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.002)
        ticks += 1
    assert ticks > 5


def test_a_launch_may_be_kept_to_one_thread() -> None:
    data = np.zeros(1000, np.int32)
    assert kernel(INCREMENT).bind([address(data)], (1000, 1, 1), threads=1)() is None
    assert (data == 1).all()


def test_workers_do_not_exceed_the_threads_asked_for() -> None:
    here = pool.process_pool()
    assert here.workers <= here.threads - 1
