"""What happened: dispatches, transfers, compile stages, cache hits; and hints for the optimizer.

Every dispatch is recorded into the process's hot-path hints under the program's entry id and the
generators of its regions, each with the program's digest. `profile()` collects everything between
its start and end.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field

from vyre.cache import cache_key, code_stamp, default_cache
from vyre.ir import Program
from vyre.locks import make_lock
from vyre.opt.hot_paths import HotPathHints, dispatch_keys, name_of
from vyre.record import dataclass


@dataclass(slots=True)
class Transfers:
    """Copies between host and devices since the process started."""

    uploads: int = 0
    upload_bytes: int = 0
    readbacks: int = 0
    readback_bytes: int = 0


transfers = Transfers()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    kind: str
    """`check`, `optimise`, `emit`, `load`, `dispatch`, `upload`, `readback`, `cache hit`, …"""
    what: str
    nanoseconds: int
    nbytes: int = 0


@dataclass(slots=True)
class Profile:
    """Everything that happened while it was open."""

    events: list[Event] = field(default_factory=list[Event])

    def total_ns(self, kind: str) -> int:
        """Time spent on one kind of thing."""
        return sum(event.nanoseconds for event in self.events if event.kind == kind)

    def count(self, kind: str) -> int:
        """How often one kind of thing happened."""
        return sum(event.kind == kind for event in self.events)

    def table(self) -> str:
        """A table for people: one line per kind and subject."""
        rows: dict[tuple[str, str], list[Event]] = {}
        for event in self.events:
            rows.setdefault((event.kind, event.what), []).append(event)
        lines = [f"{'what':<12} {'subject':<36} {'count':>6} {'time':>12} {'bytes':>14}"]
        for (kind, what), events in rows.items():
            spent = sum(event.nanoseconds for event in events)
            size = sum(event.nbytes for event in events)
            lines.append(
                f"{kind:<12} {what[:36]:<36} {len(events):>6} {spent / 1e6:>9.3f} ms {size:>14,}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()


_open: list[Profile] = []


@contextmanager
def profile() -> Iterator[Profile]:
    """Collect what happens in a `with` block: compiling, copies, dispatches, with their times.

    It gives a profile with `table()`, `count(kind)`, `total_ns(kind)` and `events`.
    """
    made = Profile()
    _open.append(made)
    try:
        yield made
    finally:
        _open.remove(made)


def note(kind: str, what: str, nanoseconds: int, nbytes: int = 0) -> None:
    """Tell all open profiles of one thing that happened."""
    if _open:
        event = Event(kind, what, nanoseconds, nbytes)
        for collecting in _open:
            collecting.events.append(event)


@contextmanager
def timed(kind: str, what: str) -> Iterator[None]:
    """Note how long the block took."""
    start = time.perf_counter_ns()
    try:
        yield
    finally:
        note(kind, what, time.perf_counter_ns() - start)


_hints: HotPathHints | None = None
_hints_lock = make_lock()


def hints() -> HotPathHints:
    """The hints of this process, begun with what earlier processes saved."""
    global _hints
    if _hints is None:
        with _hints_lock:
            if _hints is None:
                _hints = _saved_hints()
    return _hints


def _saved_hints() -> HotPathHints:
    store = default_cache()
    if not store.limit:
        return HotPathHints()
    atexit.register(_save_hints)
    found = store.get(_hints_key())
    return HotPathHints() if found is None else HotPathHints.from_bytes(bytes(found))


def _save_hints() -> None:
    if _hints is not None and len(_hints):
        default_cache().put(_hints_key(), _hints.to_bytes())


def _hints_key() -> str:
    # How long other code took says nothing about what is made now.
    return cache_key("hints 1", code_stamp())


def record_dispatch(program: Program, nanoseconds: int, nbytes: int) -> None:
    """Record one dispatch into the hints, and tell open profiles."""
    record_names(dispatch_keys(program), nanoseconds, nbytes)


def record_names(keys: tuple[str, ...], nanoseconds: int, nbytes: int) -> None:
    """The same for a program that is recorded under these keys."""
    store = hints()
    for key in keys:
        store.record(key, nanoseconds, nbytes)
    if _open:
        note("dispatch", name_of(keys[0]), nanoseconds, nbytes)


def show(printed: Iterable[object]) -> None:
    """What a kernel printed."""
    for line in printed:
        print(line)  # noqa: T201
