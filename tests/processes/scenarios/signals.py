"""Signals that come while a call is under way, and handlers that raise, return, launch or fork."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import vyre as vy
from tests.processes.kernels import check, check_different, churn, churned, different, double

PROMPT = 2.0
"""Seconds within which an exception has to be there: many more than it takes on a busy machine."""


ROUNDS = 60_000_000
"""Of `churn`, for a fraction of a second."""


class Enough(Exception):
    """What the handlers raise that have a name of their own for it."""


def raises(kind: type[BaseException]) -> Callable[..., None]:
    """A handler."""

    def handler(number: int, frame: object) -> None:
        raise kind("of the handler")

    return handler


def after(seconds: float, handler: Callable[..., object], number: int = signal.SIGALRM) -> None:
    """Have a signal come so much later."""
    signal.signal(number, handler)
    if number == signal.SIGALRM:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    else:
        threading.Timer(seconds, os.kill, (os.getpid(), number)).start()


@contextmanager
def ended_by(kind: type[BaseException], delay: float, prompt: float = PROMPT) -> Iterator[None]:
    """The block ends with this exception, as it was raised, and soon after the delay."""
    began = time.monotonic()
    try:
        yield
    except BaseException as problem:  # noqa: BLE001  it is looked at
        raised = problem
    else:
        raise AssertionError(f"no {kind.__name__}")
    took = time.monotonic() - began
    assert type(raised) is kind, repr(raised)
    assert raised.args in (("of the handler",), ()), raised
    assert raised.__cause__ is None
    # What it interrupted may have been about an exception itself, but not about one of vyre.
    assert not isinstance(raised.__context__, vy.VyreError), repr(raised.__context__)
    assert took < delay + prompt, took
    assert not reproducers()


def reproducers() -> list[Path]:
    folder = Path(os.environ["VYRE_REPRODUCERS"])
    return list(folder.iterdir()) if folder.exists() else []


KINDS = (Enough, TimeoutError, RuntimeError, ValueError, SystemExit, KeyboardInterrupt)


def launch_on_the_cpu() -> None:
    x = np.arange(64, dtype=np.uint32)
    churn(1, x, device="cpu")
    for kind in KINDS:
        after(0.05, raises(kind))
        with ended_by(kind, 0.05):
            churn(2_000_000_000, x, device="cpu")
        check()


def launch_on_the_reference() -> None:
    x = np.arange(64, dtype=np.uint32)
    for kind in KINDS:
        after(0.1, raises(kind))
        with ended_by(kind, 0.1):
            churn(200_000_000, x, device="reference")
        check("reference", 10)


def ctrl_c_and_termination() -> None:
    """Python's own handler of SIGINT, and a `sys.exit` in one of SIGTERM, as servers have."""
    x = np.arange(64, dtype=np.uint32)
    churn(1, x, device="cpu")
    after(0.1, signal.default_int_handler, signal.SIGINT)
    with ended_by(KeyboardInterrupt, 0.1):
        churn(2_000_000_000, x, device="cpu")
    after(0.1, raises(SystemExit), signal.SIGTERM)
    with ended_by(SystemExit, 0.1):
        churn(2_000_000_000, x, device="cpu")
    check()


def compilation() -> None:
    """Of a program that takes seconds, at moments that fall into passes, emission and LLVM."""
    x = np.arange(200, dtype=np.uint32)
    check_different(os.getpid())  # loads what compiles
    for number, delay in enumerate((0.02, 0.4, 1.0)):
        kind = KINDS[number]
        program = different(os.getpid() * 8 + number, 1000)
        after(delay, raises(kind))
        with ended_by(kind, delay):
            vy.run(program, {"x": x}, sizes={"y": 200}, device="cpu")
    after(0.4, signal.default_int_handler, signal.SIGINT)
    with ended_by(KeyboardInterrupt, 0.4):
        vy.run(different(os.getpid() * 8 + 7, 1000), {"x": x}, sizes={"y": 200}, device="cpu")
    check_different(os.getpid() + 1)


def handlers_that_return() -> None:
    """The call goes on, and its result is right, also if the handler launches something itself."""
    heard: list[float] = []

    def note(*_: object) -> None:
        heard.append(time.monotonic())

    def launch(*_: object) -> None:
        check(count=70)
        note()

    x = np.arange(64, dtype=np.uint32)
    churn(10, x, device="cpu")
    assert np.array_equal(x, churned(10, 64))
    expected = np.arange(64, dtype=np.uint32)
    churn(ROUNDS, expected, device="cpu")
    interrupt, alarm = signal.SIGINT, signal.SIGALRM
    for handler, number in ((note, interrupt), (note, alarm), (launch, alarm)):
        heard.clear()
        x = np.arange(64, dtype=np.uint32)
        after(0.02, handler, number)
        churn(ROUNDS, x, device="cpu")
        assert len(heard) == 1
        assert np.array_equal(x, expected)


def storm() -> None:
    """A handler that returns every millisecond, while all kinds of things are done."""
    heard = [0]

    def note(*_: object) -> None:
        heard[0] += 1

    signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    ends = time.monotonic() + 1
    number = 0
    while time.monotonic() < ends:
        number += 1
        check(count=1 + number * 37 % 3000)
        check_different(os.getpid() * 1000 + number)
        with vy.array(np.arange(100, dtype=np.uint32), device="cpu") as x:
            y = np.zeros(100, np.uint32)
            double(x, y)
            assert y[9] == 18
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert heard[0] > 100


def at_any_moment() -> None:
    """Handlers that raise at random moments of calls: that is what comes out, or it is too late."""
    chance = random.Random(0)
    # What is raised in a finalizer is lost; the interpreter prints it.
    sys.unraisablehook = lambda told: None
    check_different(os.getpid())  # loads what compiles
    reached = 0
    ends = time.monotonic() + 2
    number = 0
    while time.monotonic() < ends:
        number += 1
        kind = chance.choice(KINDS)
        after(chance.uniform(0.0005, 0.08), raises(kind))
        try:
            check_different(os.getpid() * 1000 + number)
            check(count=number)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except kind as problem:
            reached += problem.args == ("of the handler",)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        check(count=number)
    assert reached > 10
    assert not reproducers()


def other_threads_go_on() -> None:
    """The exception is for the main thread: what others are doing is not ended by it."""
    x = np.arange(64, dtype=np.uint32)
    expected = np.arange(64, dtype=np.uint32)
    churn(ROUNDS, expected, device="cpu")
    thread = threading.Thread(target=churn, args=(ROUNDS, x), kwargs={"device": "cpu"})
    thread.start()
    after(0.05, raises(Enough))
    with ended_by(Enough, 0.05):
        churn(2_000_000_000, np.arange(64, dtype=np.uint32), device="cpu")
    thread.join()
    assert np.array_equal(x, expected)


def deadline() -> None:
    """A deadline is vyre's own, and says so; signals may come meanwhile."""
    x = np.arange(64, dtype=np.uint32)
    heard: list[int] = []
    codes: tuple[str, ...] = ()
    signal.signal(signal.SIGALRM, lambda number, _: heard.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        churn(2_000_000_000, x, device="cpu", deadline=0.4)
    except vy.VyreError as problem:
        codes = problem.codes
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert codes == ("X002",)
    assert len(heard) > 1
    check()


def interpreter_exit() -> None:
    """An uncaught Ctrl-C ends the process as it ends any other."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the traceback is as usual
        after(0.2, signal.default_int_handler, signal.SIGINT)
        churn(2_000_000_000, np.arange(64, dtype=np.uint32), device="cpu")
        os._exit(0)
    began = time.monotonic()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) != 0
    assert time.monotonic() - began < PROMPT + 1


def launched_while_the_reference_is_loaded() -> None:
    """By a handler, at every import of the first call: it is told so, and that call goes on."""
    launched_while_loading("reference")


def launched_while_the_cpu_is_loaded() -> None:
    """The same with a backend that compiles."""
    launched_while_loading("cpu")


def launched_while_loading(device: str) -> None:
    told: list[str] = []

    def launch(*_: object) -> None:
        try:
            check(device, 10)
        except vy.VyreError as problem:
            told.append(problem.code)

    class Interrupts:
        """Is asked for every module, in the middle of importing it."""

        def find_spec(self, name: str, *_: object) -> None:
            if name.startswith("vyre.") and threading.current_thread() is threading.main_thread():
                signal.raise_signal(signal.SIGALRM)

    signal.signal(signal.SIGALRM, launch)
    finder: Any = Interrupts()
    sys.meta_path.insert(0, finder)
    x = np.zeros(9, np.uint32)
    vy.run(different(os.getpid()), {"x": x}, sizes={"y": 200}, device=device)
    churn(3, x, device=device)
    sys.meta_path.remove(finder)
    assert np.array_equal(x, np.full(9, churned(3, 1)[0]))
    assert len(told) > 10
    assert set(told) == {"D044"}, told
    check(device, 10)
