"""Processes that fork, spawn, or end while something is under way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np

import vyre as vy
from tests.processes.kernels import add_one, check, check_different, churn, different, double
from tests.processes.scenarios.signals import Enough, after, ended_by, raises

PATIENCE = 20.0
"""Seconds; on an idle machine no child takes one."""


def in_child(work: Callable[[], None]) -> int:
    """Fork, and have the child do something; its process id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001  it is told
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended_well(child: int) -> None:
    """Wait for a child, but not for ever."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0, status
            return
        time.sleep(0.005)
    os.kill(child, signal.SIGUSR1)  # says where it is
    time.sleep(0.2)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the child hangs")


class Busy:
    """Threads that do something again and again as long as the block lasts."""

    def __init__(self, *works: Callable[[int], None]) -> None:
        self._over = threading.Event()
        self._problems: list[BaseException] = []
        self._threads = [threading.Thread(target=self._repeat, args=(w,)) for w in works]

    def _repeat(self, work: Callable[[int], None]) -> None:
        number = 0
        try:
            while not self._over.is_set():
                work(number)
                number += 1
        except BaseException as problem:
            self._problems.append(problem)
            raise

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        assert not self._problems


def while_threads_launch_and_compile() -> None:
    def other_lengths(number: int) -> None:
        check(count=1 + 97 * number % 5000)

    def compiles(number: int) -> None:
        check_different(1_000_000 * os.getpid() + number)

    def work() -> None:
        check()
        check(count=77)
        check_different(17 * os.getpid())

    def longer(number: int) -> None:
        churn(200, np.arange(200_000, dtype=np.uint32), device="cpu")

    check_different(os.getpid())  # in no cache, so LLVM is loaded
    with Busy(other_lengths, compiles, longer):
        for _ in range(4):
            time.sleep(0.02)
            ended_well(in_child(work))
    check()


def while_another_thread_compiles_the_same() -> None:
    """It holds what guards this program, and is not there to let go of it in the child."""
    program = different(os.getpid(), 200)
    inputs = {"x": np.arange(200, dtype=np.uint32)}

    def run() -> None:
        vy.run(program, inputs, sizes={"y": 200}, device="cpu")

    check_different(os.getpid())  # loads what compiles
    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.02)
    assert thread.is_alive()
    ended_well(in_child(run))
    thread.join()
    run()


def deadlines_and_signals_in_the_child() -> None:
    """Who watches for them in the parent is not there in the child."""
    check(count=1_000_000)
    x = np.arange(64, dtype=np.uint32)
    churn(1, x, device="cpu", deadline=10)

    def work() -> None:
        codes: tuple[str, ...] = ()
        try:
            churn(2_000_000_000, x, device="cpu", deadline=0.2)
        except vy.VyreError as problem:
            codes = problem.codes
        assert codes == ("X002",)
        after(0.1, raises(Enough))
        with ended_by(Enough, 0.1):
            churn(2_000_000_000, x, device="cpu")

    ended_well(in_child(work))
    work()


def first_launch_in_parent_and_child() -> None:
    """Nothing of vyre is loaded before the fork but the package itself."""
    child = in_child(check)
    check()
    ended_well(child)


def launches_in_parent_and_child() -> None:
    check(count=1_000_000)

    def work() -> None:
        for count in (1, 1000, 1_000_000):
            check(count=count)
        y = np.zeros(10, np.uint32)
        double(np.arange(10, dtype=np.uint32), y, device="cpu")
        assert y[9] == 18

    child = in_child(work)
    work()
    ended_well(child)


def nested() -> None:
    check_different(os.getpid())  # in no cache, so LLVM is loaded

    def deeper(level: int) -> None:
        check(count=1_000_000)
        if level:
            ended_well(in_child(lambda: deeper(level - 1)))
        check_different(31 * os.getpid())

    deeper(3)


def child_leaves_through_the_interpreter() -> None:
    """Not by `os._exit`: the interpreter is taken down in the child, too."""
    check(count=1_000_000)
    child = os.fork()
    check(count=1_000_000)
    if not child:
        sys.exit(0)
    ended_well(child)
    check()


def exits_while_threads_are_at_work() -> None:
    """Both ways out, and neither waits for anything or crashes."""

    def leave(how: Callable[[int], object]) -> Callable[[], None]:
        def work() -> None:
            for _ in range(2):
                data = np.arange(1 << 16, dtype=np.uint32)
                arguments, device = (1 << 30, data), {"device": "cpu"}
                threading.Thread(target=churn, args=arguments, kwargs=device, daemon=True).start()
            threading.Thread(target=check_different, args=(5,), daemon=True).start()
            time.sleep(0.05)
            how(0)

        return work

    check()
    ended_well(in_child(leave(os._exit)))
    child = os.fork()
    if not child:
        leave(sys.exit)()
    ended_well(child)


def summed(number: int) -> int:
    """For the pools below: what a worker does."""
    x = np.full(1000 + number, number, np.uint32)
    y = np.zeros_like(x)
    add_one(x, y, device="cpu")
    return int(y[-1]) - number


def _pool(method: str) -> None:
    check(count=1_000_000)
    with multiprocessing.get_context(method).Pool(1) as workers:
        given = workers.map_async(summed, range(20))
        check()
        assert given.get(timeout=PATIENCE) == [1] * 20


def pool_of_forked_processes() -> None:
    with Busy(lambda _: check(count=300)):
        _pool("fork")


def pool_of_spawned_processes() -> None:
    _pool("spawn")


def pool_of_a_fork_server() -> None:
    _pool("forkserver")
