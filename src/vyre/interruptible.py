"""Work that takes long, done so that signals are heard meanwhile and reach the caller as they are.

Python runs signal handlers in the main thread, between two of its instructions: not while it is
inside a library, and also where an exception is taken for something else. So another thread does
the work, and this one waits, which a signal interrupts. That thread has as much stack as the main
thread has as a rule, whatever the one that waits has.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from vyre.locks import is_importing, make_lock
from vyre.signals import is_from_handler

Result = TypeVar("Result")

_STACK_BYTES = 16 << 20
_OFTEN = 0.05
"""Seconds after which a thread that waits looks whether it has been forked."""
_starting = make_lock()


def call_interruptibly(work: Callable[[], Result], *, daemon: bool = False) -> Result:
    """What `work` gives, or raises. If a signal handler raises, the work goes on unheeded.

    The end of the interpreter does not wait for a `daemon`; native code must not be one, or it
    would be at work while its library is taken down. Where no thread can be had, and while this one
    imports something, the work is done here: the other one might import the same.
    """
    results: list[Result] = []
    problems: list[BaseException] = []
    ended = threading.Lock()
    ended.acquire()

    def do() -> None:
        try:
            results.append(work())
        except BaseException as problem:  # noqa: BLE001  it is raised where the result is wanted
            problems.append(problem)
        finally:
            ended.release()

    if is_importing(_here()) or not _started(do, daemon):
        return work()
    process = os.getpid()
    while not ended.acquire(timeout=_OFTEN):
        if os.getpid() != process:
            # A signal handler has forked: the other thread is in the other process.
            return work()
    if problems:
        try:
            raise problems[0]
        finally:
            problems.clear()  # or the traceback would hold itself
    return results[0]


def _here() -> FrameType:
    return sys._getframe()  # pyright: ignore[reportPrivateUsage]


def _started(do: Callable[[], None], daemon: bool) -> bool:
    """Whether a thread could be started."""
    thread = threading.Thread(target=do, name="vyre-work", daemon=daemon)
    with _starting:
        before = threading.stack_size()
        try:
            threading.stack_size(_STACK_BYTES)
            start(thread)
        except (RuntimeError, ValueError, MemoryError) as problem:
            if is_from_handler(problem):
                raise
            return False
        finally:
            threading.stack_size(before)
    return True


def start(thread: threading.Thread) -> None:
    """Start a thread. What a signal handler raises meanwhile comes out as it is.

    Python takes it for a thread that could not be started, and raises a `KeyError` on top of it if
    the thread is at work already.
    """
    try:
        thread.start()
    except BaseException as problem:
        if is_from_handler(problem):
            raise
        raised = _raised_before(problem)
        if raised is None:
            raise
    else:
        return
    raise raised


def _raised_before(problem: BaseException) -> BaseException | None:
    """What a handler raised that led to this problem, if it did."""
    context = problem.__context__
    while context is not None and not is_from_handler(context):
        context = context.__context__
    return context
