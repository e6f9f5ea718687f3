"""Better code is made in the background; no thread waits for it, and nothing fails without it."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

import vyre as vy
from tests.processes.kernels import check, check_different, churn, different
from tests.processes.scenarios.forks import ended_well, in_child
from tests.processes.scenarios.signals import Enough, after, ended_by, raises
from vyre.cache import DiskCache
from vyre.opt import HotPathHints
from vyre.runtime import compile, dispatch
from vyre.runtime.compile_server import process
from vyre.runtime.compiling import finish_improvements

UNPRIVILEGED_USER = 65534
_VERSION_3 = 0x20080522
_EFFECTIVE, _PERMITTED = 0, 1
_SYS_ADMIN, _SYS_RESOURCE = 21, 24
"""Of capset(2): what sets root free of limits."""
ENDS_AT_ONCE = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


class Hot:
    """A program that was compiled, and has turned out to be hot since then."""

    def __init__(self, number: int) -> None:
        self.program = different(number)
        self.hints = HotPathHints()
        self.compiled()
        self.hints.record("r", 1_000_000_000, 4)

    def compiled(self) -> vy.CompiledProgram:
        return compile(self.program, device="cpu", hints=self.hints, cache=DiskCache(os.devnull, 0))

    def check(self) -> None:
        """What is compiled for it now is right."""
        x = np.arange(200, dtype=np.uint32)
        expected = vy.run(self.program, {"x": x}, sizes={"y": 200}, device="reference")["y"]
        got = dispatch(self.compiled(), {"x": x}, sizes={"y": 200})["y"]
        assert np.array_equal(got, expected)


def as_a_plain_user() -> None:
    """The limit does not hold for root: be another user, who may read and write as before."""
    if os.getuid() != 0:
        return
    os.setresuid(UNPRIVILEGED_USER, 0, 0)
    native = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert native.capget(header, sets) == 0
    for which in (_EFFECTIVE, _PERMITTED):
        sets[which] &= ~(1 << _SYS_ADMIN | 1 << _SYS_RESOURCE)
    assert native.capset(header, sets) == 0


@contextmanager
def no_more_threads() -> Iterator[None]:
    """The system starts neither threads nor processes meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, before)


def failures(work: Callable[[], object]) -> list[str]:
    """Why better code could not be made, while something was done."""
    with vy.profile() as seen:
        work()
    return [event.what for event in seen.events if event.kind == "recompile failed"]


def without_threads() -> None:
    """From the start: what needs one does without, and says so where that cannot be."""
    as_a_plain_user()
    with no_more_threads():
        check()
        check(count=1_000_000)
        check_different(os.getpid())
        said = ""
        try:
            churn(10, np.arange(64, dtype=np.uint32), device="cpu", deadline=5)
        except vy.VyreError as refused:
            said = str(refused)
        assert "thread" in said  # no thread could watch the deadline
    check(count=1_000_000)


def without_a_thread_or_a_process_for_better_code() -> None:
    as_a_plain_user()
    hot = Hot(os.getpid())
    with no_more_threads():
        said = failures(hot.check)
        assert said
        assert "thread" in said[0]
        assert not hot.compiled().is_for_hot
    process.submit(lambda ask: None).join()  # now there is a thread
    with no_more_threads():
        said = failures(lambda: (hot.compiled(), finish_improvements(hot.program)))
        assert said
        assert "could not be started" in said[0]
        hot.check()
    again = Hot(os.getpid() + 1)
    again.compiled()
    finish_improvements(again.program)
    assert again.compiled().is_for_hot
    again.check()


def interrupted() -> None:
    """Ctrl-C goes to all processes of a terminal. It ends what the caller does, nothing else."""
    hot = Hot(os.getpid())
    hot.compiled()
    while process._elsewhere._process is None:
        time.sleep(0.001)
    signal.signal(signal.SIGINT, raises(KeyboardInterrupt))
    with ended_by(KeyboardInterrupt, 0):
        os.killpg(0, signal.SIGINT)
        time.sleep(5)
    finish_improvements(hot.program)
    hot.check()  # with better code, or, if the process was not yet ready for signals, without
    starts = process._START
    process._START = ENDS_AT_ONCE
    process._elsewhere._end()
    other = Hot(os.getpid() + 2)
    said = failures(lambda: (other.compiled(), finish_improvements(other.program)))
    assert said
    assert "ended with" in said[0]
    other.check()
    process._START = starts
    again = Hot(os.getpid() + 1)
    again.compiled()
    finish_improvements(again.program)
    assert again.compiled().is_for_hot
    again.check()


def interrupted_while_it_is_asked_for() -> None:
    """A handler raises anywhere in that: no thread is left waiting, and it can be retried."""
    # Imports are Python's: an exception between opening a file of byte code and reading it is told.
    first = Hot(os.getpid() * 100 + 2)
    first.compiled()
    finish_improvements(first.program)
    for number in range(2):
        hot = Hot(os.getpid() * 100 + number)
        after(0.0002 + 0.002 * number, raises(Enough))
        try:
            hot.compiled()
            time.sleep(0.02)
        except Enough:
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        hot.compiled()
        finish_improvements(hot.program)
        assert hot.compiled().is_for_hot
        hot.check()


def forks_while_it_is_made() -> None:
    hot = Hot(os.getpid())
    hot.compiled()

    def in_the_child() -> None:
        hot.check()
        finish_improvements(hot.program)
        hot.compiled()
        hot.check()
        process._elsewhere.close()

    ended_well(in_child(in_the_child))
    finish_improvements(hot.program)
    assert hot.compiled().is_for_hot
