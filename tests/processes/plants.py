"""Typical mistakes with threads, processes and signals, each planted by itself.

A scenario must find every one of them: `test_planted.py` sees to that.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Plant:
    """One mistake, how to plant it in this process, and the scenario that must find it."""

    plant: Callable[[], None]
    found_by: str
    said: str
    """Part of what is then told."""


def _locks_not_renewed() -> None:
    """A child has the locks as they were."""
    from vyre import locks

    locks.is_held_here = lambda lock: True


def _watchdog_believed_alive() -> None:
    """A child believes the threads of the pool to be there."""
    from vyre.backends.llvm.pool import Pool

    Pool._forked = lambda self: None


def _handlers_not_recognised() -> None:
    """What a handler raises is taken for what the code around it is about."""
    from vyre import signals

    signals._frames = lambda trace: iter(())


def _forked_device_used() -> None:
    """The check that a device belongs to this process is missing."""
    from vyre.backends.wgsl import device

    device.refuse_inherited = lambda name: None


def _no_thread_is_an_error() -> None:
    """A call fails because better code cannot be made."""
    from vyre.runtime import compiling

    compiling.is_from_handler = lambda problem: True


def _background_of_the_parent() -> None:
    """A child waits for a thread of its parent."""
    from vyre.runtime.compile_server import process

    shared = process._elsewhere
    process._Elsewhere = lambda: shared


def _thread_noted_late() -> None:
    """A thread is started, and only then noted: a handler may raise in between."""
    from vyre.runtime.compile_server import process

    def submit(self: Any, task: Any) -> None:
        with self._lock:
            if self._thread is None:
                made = threading.Thread(target=do_tasks, args=(self,), name="vyre-recompile")
                made.daemon = True
                made.start()
                self._thread = made
            self._tasks.put(task)

    def do_tasks(self: Any) -> None:
        while (task := self._next()) is not None:
            task.run(self._ask)

    submit.__code__ = submit.__code__.replace(co_filename=process.__file__)
    process._Elsewhere.submit = submit


def _deaf_while_reading() -> None:
    """Something is submitted, and that waits for the device, before a result is waited for."""
    from wgpu.backends.wgpu_native import _api

    buffers: Any = _api.GPUBuffer
    real = buffers.map_async
    buffers.map_async = lambda self, mode, *range: real(self, "READ", *range)


def _submitted_whatever_a_handler_did() -> None:
    """Work is submitted although a handler has submitted it meanwhile."""
    from vyre.backends.wgsl import recorder

    recorder.eq = lambda *_: True


def _own_entry_is_the_last() -> None:
    """Who waited for a buffer takes for its own what is noted last."""
    from vyre.backends.wgsl.recorder import Recorder

    def map_(self: Any, staging: Any, nbytes: int) -> None:
        promise = staging.map_async("READ_NOSYNC", 0, nbytes)
        self._unread[id(promise)] = (staging, promise)
        promise.sync_wait()
        self._unread.popitem()

    Recorder._map = map_


def _threads_started_plainly() -> None:
    """What Python raises while a thread starts is believed."""
    from vyre import interruptible

    interruptible._raised_before = lambda problem: None


def _locks_in_a_weak_set() -> None:
    """Code runs when a lock ends."""
    from vyre import locks

    made: Any = weakref.WeakSet()

    class Known(dict[int, Any]):
        def __setitem__(self, key: int, value: Any) -> None:
            made.add(value())

    locks._all = Known()


def _launched_while_loading() -> None:
    """The check that what a handler launches with is loaded is missing."""
    from vyre.driver import loading

    loading._under_way = ()


PLANTS = {
    "locks not renewed": Plant(
        _locks_not_renewed, "forks.while_another_thread_compiles_the_same", "the child hangs"
    ),
    "watchdog believed alive": Plant(
        _watchdog_believed_alive, "forks.deadlines_and_signals_in_the_child", "the child hangs"
    ),
    "handlers not recognised": Plant(_handlers_not_recognised, "third_party.passes", "O013"),
    "handlers not recognised by the cache": Plant(
        _handlers_not_recognised, "anywhere.the_cache", "swallowed"
    ),
    "forked device used": Plant(_forked_device_used, "webgpu.used_before_a_fork", "Error"),
    "no thread is an error": Plant(
        _no_thread_is_an_error,
        "background.without_a_thread_or_a_process_for_better_code",
        "can't start",
    ),
    "background of the parent": Plant(
        _background_of_the_parent, "background.forks_while_it_is_made", "the child hangs"
    ),
    "thread noted late": Plant(
        _thread_noted_late, "anywhere.asking_for_something_in_the_background", "vyre-recompile"
    ),
    "deaf while reading": Plant(_deaf_while_reading, "webgpu.interrupted", "Error"),
    "launched while loading": Plant(
        _launched_while_loading, "signals.launched_while_the_cpu_is_loaded", "Error"
    ),
    "threads started plainly": Plant(
        _threads_started_plainly, "anywhere.while_a_thread_starts", "KeyError"
    ),
    "locks in a weak set": Plant(
        _locks_in_a_weak_set, "anywhere.while_a_lock_ends", "AssertionError"
    ),
    "submitted whatever a handler did": Plant(
        _submitted_whatever_a_handler_did, "webgpu.a_handler_launches_at_any_line", "AssertionError"
    ),
    "own entry is the last": Plant(
        _own_entry_is_the_last, "webgpu.a_handler_launches_while_the_host_waits", "B004"
    ),
}
