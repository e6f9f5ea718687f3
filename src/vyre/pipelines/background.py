"""Runs submitted calls on one thread per device, in the order of submission."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

R = TypeVar("R")

_threads: dict[str, ThreadPoolExecutor] = {}
"""By device. One thread each, so that calls on a device run one after another."""


def submit(device: str, call: Callable[[], R]) -> Future[R]:
    """Run a call after those submitted before it for the same device.

    The interpreter waits at its exit for calls that have been submitted.
    """
    # Here, because most programs submit nothing and importing takes longer than a launch.
    from concurrent.futures import ThreadPoolExecutor

    thread = _threads.get(device)
    if thread is None:
        made = ThreadPoolExecutor(1, thread_name_prefix=f"vyre-{device}")
        # Another thread may be first; its executor is used, and this one has started no thread.
        thread = _threads.setdefault(device, made)
    return thread.submit(call)


if hasattr(os, "register_at_fork"):
    # A forked child has the table, but not the threads.
    os.register_at_fork(after_in_child=_threads.clear)

__all__ = ["submit"]
