"""Exceptions that signal handlers raise: they are for the caller, wherever they come up.

A handler runs between any two instructions of the main thread, also inside of a `try` that is about
something else. What it raises is told apart by where it was raised: in a function that was given
the frame it interrupted, as handlers are, or that is set as a handler now.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any


def is_from_handler(problem: BaseException) -> bool:
    """Whether a signal handler raised it, or something that a handler called."""
    if isinstance(problem, KeyboardInterrupt):
        return True
    cause = problem.__cause__
    if type(problem) is RuntimeError and cause is not None and is_from_handler(cause):
        # So does Python 3.11 raise what `__set_name__` raises: of the members of an enum, say.
        return True
    trace = problem.__traceback__
    own = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    if trace is not None and trace.tb_next is None and trace.tb_frame is own:
        # Raised in C, called by who asks: so are dozens when a process starts.
        return False
    codes: set[CodeType] | None = None
    for frame in _frames(problem.__traceback__):
        if _is_given_its_caller(frame):
            return True
        if codes is None:
            codes = set(_handlers())
        if frame.f_code in codes:
            return True
    return False


class tolerate:  # noqa: N801  read as a verb: `with tolerate(OSError)`
    """Go on after exceptions of some types, unless a signal handler raised them."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        return isinstance(problem, self._kinds) and not is_from_handler(problem)


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_given_its_caller(frame: FrameType) -> bool:
    """Whether a function was called with a number and the frame that it was called from."""
    caller = frame.f_back
    if caller is None:
        return False
    code, values = frame.f_code, frame.f_locals
    arguments = [values.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & _VARIABLE_ARGUMENTS:
        rest = values.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        arguments += rest if isinstance(rest, tuple) else ()
    return any(one is caller for one in arguments) and any(
        isinstance(one, int) for one in arguments
    )


_VARIABLE_ARGUMENTS = 0x04
"""CO_VARARGS, as `inspect` calls it."""


def _handlers() -> Iterator[CodeType]:
    """The code of the handlers that are set."""
    # The module behind `signal`, whose own functions make an enum of every number on the way.
    import importlib

    plain: Any = importlib.import_module("_signal")
    for number in plain.valid_signals():
        handler: object = plain.getsignal(number)
        if handler is None or isinstance(handler, int):
            continue
        # A function, a method, what `functools.partial` made, or an instance that can be called.
        method, whole = getattr(handler, "__func__", None), getattr(handler, "func", None)
        for one in (handler, method, whole, vars(type(handler)).get("__call__")):
            code = getattr(one, "__code__", None)
            if isinstance(code, CodeType):
                yield code
