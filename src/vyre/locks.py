"""Locks for processes that fork and threads that signals interrupt.

A forked process has one thread, and what the others held stays locked in it for ever. So every lock
of vyre is made here: a new process finds all of them free, but for those that its one thread holds
itself. That thread may take them again, for a signal handler may call what it interrupted.

What a lock guards must be right at every moment, therefore, or made right after a fork by the one
who guards it. Where only another library knows its state, nothing forks while the lock is held.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Generic, Self, TypeVar, overload

_all: dict[int, weakref.ref[Any]] = {}
"""By id, which a later lock may have in turn. Not a set of weak references: that runs code when a
lock ends, and what a signal handler raises in such code is lost."""
_kept: list[Any] = []
"""Those that no thread may hold while this one forks."""
_taken: list[Any] = []
"""Those of them that were taken for the fork that is under way."""


def make_lock(*, held_by_forks: bool = False) -> threading.RLock:
    """A lock that a forked process finds free, and that its thread may take again.

    With `held_by_forks` a fork waits until no other thread has it.
    """
    made = threading.RLock()
    _all[id(made)] = weakref.ref(made)
    if held_by_forks:
        _kept.append(made)
    return made


def is_held_here(lock: threading.RLock) -> bool:
    """Whether this thread has a lock of `make_lock`."""
    held: Any = lock
    return bool(held._is_owned())


def hold_while_forking(lock: Any) -> None:
    """Let a lock of another library be held by a fork, as long as the process lives."""
    _kept.append(lock)


Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801  it stands where the one of functools would
    """A property that is computed once. Until Python 3.12 the one of functools has a lock."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """The value; found without this call from then on."""
        if instance is None:
            return self
        value = self._compute(instance)
        return instance.__dict__.setdefault(self._name, value)


# --- forking --------------------------------------------------------------------------------------

_PATIENCE = 5.0
"""Seconds that a fork waits for imports; they take a fraction of one."""
_IMPORT_SYSTEM = ("importlib._bootstrap", "_frozen_importlib")


def _before_fork() -> None:
    _wait_for_imports()
    for lock in _kept:
        lock.acquire()
        _taken.append(lock)


def _after_fork() -> None:
    while _taken:
        _taken.pop().release()


def _after_fork_in_child() -> None:
    for known in list(_all.values()):
        lock = known()
        if lock is not None and not is_held_here(lock):
            lock._at_fork_reinit()
    _after_fork()


def _wait_for_imports() -> None:
    """Let other threads end what they import for vyre: their part of it would stay locked."""
    ends_at = time.monotonic() + _PATIENCE
    while time.monotonic() < ends_at:
        own = threading.get_ident()
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        if not any(_is_ours(frame) for thread, frame in frames.items() if thread != own):
            return
        del frames  # of others: not held while they go on
        time.sleep(0.001)


def is_importing(frame: FrameType) -> bool:
    """Whether a frame is part of an import."""
    return any(f.f_globals.get("__name__") in _IMPORT_SYSTEM for f in _outwards(frame))


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame is part of an import for vyre, or of vyre."""
    modules = (str(f.f_globals.get("__name__")) for f in _outwards(frame))
    return is_importing(frame) and any(name.partition(".")[0] == "vyre" for name in modules)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )
