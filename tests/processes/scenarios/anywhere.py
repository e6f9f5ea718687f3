"""A signal handler raises in every `try` and `with` of vyre that some work goes through.

What it raises is of every type that vyre may expect there for reasons of its own. It reaches the
caller all the same, and the same can be done again: nothing was left half done.
"""

from __future__ import annotations

import dis
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import vyre as vy
from tests.processes.kernels import check_different, double
from tests.processes.scenarios.signals import reproducers
from vyre.cache import default_cache
from vyre.config import config
from vyre.locks import make_lock
from vyre.runtime import compile_server

SOURCE = str(Path(vy.__file__).parent)
Work = Callable[[], None]


class Anything(OSError, ValueError, RuntimeError, TypeError, LookupError, MemoryError, EOFError):
    """What a handler raises, in one."""


class Place(NamedTuple):
    """A range of instructions that an exception does not just pass through."""

    file: str
    function: str
    start: int
    line: int


def guarded_ranges(code: CodeType, *, all_lines: bool) -> list[tuple[int, int]]:
    """Where an exception is looked at; with all lines, also where it passes a `with`."""
    table: Any = dis._parse_exception_table(code)  # pyright: ignore[reportAttributeAccessIssue]
    return [(entry.start, entry.end) for entry in table if all_lines or not entry.lasti]


class Tracer:
    """Calls something at each line of each place, or of one of them."""

    def __init__(
        self, reached: Callable[[Place], None], only: Place | None = None, all_lines: bool = True
    ) -> None:
        self._reached = reached
        self._only = only
        self._all_lines = all_lines
        self._ranges: dict[CodeType, list[tuple[int, int]]] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        ranges = self._ranges.get(code)
        if ranges is None:
            ranges = self._ranges[code] = self._of(code)
        return self._line if ranges else None

    def _of(self, code: CodeType) -> list[tuple[int, int]]:
        if not code.co_filename.startswith(SOURCE):
            return []
        if self._only and (code.co_filename, code.co_qualname) != self._only[:2]:
            return []
        return guarded_ranges(code, all_lines=self._all_lines)

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            code = frame.f_code
            for start, end in self._ranges[code]:
                if start <= frame.f_lasti < end:
                    place = Place(code.co_filename, code.co_qualname, start, frame.f_lineno)
                    if self._only in (None, place):
                        self._reached(place)
        return self._line


def traced(work: Work, tracer: Tracer) -> None:
    """Do it, under the eyes of a tracer."""
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(None)


def said_by_child(work: Callable[[], str]) -> str:
    """What a forked process says that does something."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with open(write, "w") as pipe:
            pipe.write(work())
        os._exit(0)
    os.close(write)
    with open(read) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return said if status == 0 else f"ended with {status}: {said}"


def places_of(work: Work, *, all_lines: bool = False) -> list[Place]:
    """The places that some work comes to, found out in a process of its own.

    The first line of each `try` is enough, but where things are half done between two lines.
    """

    def look() -> str:
        found: dict[tuple[str | int, ...], Place] = {}
        key = slice(4 if all_lines else 3)

        def note(place: Place) -> None:
            found.setdefault(place[key], place)

        traced(work, Tracer(note, all_lines=all_lines))
        return "\n".join("\t".join(map(str, place)) for place in found.values())

    rows = [row.split("\t") for row in said_by_child(look).splitlines()]
    return [Place(file, function, int(start), int(line)) for file, function, start, line in rows]


def raised_at(place: Place, work: Work) -> str:
    """What goes wrong if a handler raises there."""

    def raise_anything(number: int, frame: object) -> None:
        raise Anything("of the handler")

    signal.signal(signal.SIGALRM, raise_anything)
    sent: list[Place] = []
    # What is raised while memory is freed is lost; the interpreter prints it.
    ignored: list[type[BaseException] | None] = []
    sys.unraisablehook = lambda told: ignored.append(told.exc_type)

    def send(place: Place) -> None:
        if not sent:
            sent.append(place)
            signal.raise_signal(signal.SIGALRM)

    try:
        traced(work, Tracer(send, place))
    except Anything:
        pass
    except Exception as problem:  # noqa: BLE001  it is told
        return f"became {type(problem).__name__}: {problem}".splitlines()[0]
    else:
        if Anything not in ignored:
            return "was swallowed" if sent else ""
    if reproducers():
        return "left a reproducer"
    try:
        work()
    except Exception as problem:  # noqa: BLE001  it is told
        return f"afterwards {type(problem).__name__}: {problem}".splitlines()[0]
    return ""


def wrong_at(places: list[Place], work: Work, prepare: Work) -> list[str]:
    """What goes wrong at which of these places."""

    def tried(place: Place) -> str:
        prepare()
        return raised_at(place, work)

    said = {place: said_by_child(lambda place=place: tried(place)) for place in places}
    return [
        f"{place.file.removeprefix(SOURCE)}:{place.line} in {place.function}: {what}"
        for place, what in said.items()
        if what
    ]


def use() -> None:
    """Calls of a kernel, the first and the second, and an array on a device."""
    x = np.arange(100, dtype=np.uint32)
    y = np.zeros_like(x)
    double(x, y, device="cpu")
    assert y[99] == 198
    with vy.array(x, device="cpu") as there:
        double(there, y)
        assert y[99] == 198


def keep_nothing() -> None:
    """Use an empty folder as the cache from now on."""
    os.environ["VYRE_CACHE_DIR"] = tempfile.mkdtemp(dir=os.environ["VYRE_CACHE_DIR"])
    config.cache_clear()


def calls() -> None:
    """Of a kernel that is in the cache; and where a new one goes through more, of a new one."""
    check_different(os.getpid())  # loads what compiles, and what launches

    def use_anew() -> None:
        keep_nothing()
        use()

    anew = places_of(use_anew)
    keep_nothing()
    assert said_by_child(lambda: use() or "") == ""
    again = places_of(use)
    assert len(again) > 20
    wrong = wrong_at(again, use, lambda: None)
    known = {place[:3] for place in again}
    more = [place for place in anew if place[:3] not in known]
    assert len(more) > 10
    # A new kernel takes long, and a test of the source looks at every `except`: half of them do.
    wrong += wrong_at(more[::2], use, keep_nothing)
    assert not wrong, "\n".join(wrong)


def the_cache() -> None:
    """Files that are read and written: `TimeoutError` is an `OSError`."""

    def keep() -> None:
        cache = default_cache()
        cache.get("a")
        assert cache.put("a", b"body")
        assert cache.get("a") == b"body"

    keep_nothing()
    wrong = wrong_at(places_of(keep, all_lines=True), keep, keep_nothing)
    assert not wrong, "\n".join(wrong)


def asking_for_something_in_the_background() -> None:
    """The thread that does it may be about to start: there is one of them, not awaited."""

    def ask() -> None:
        compile_server.submit(lambda _: None).join()
        time.sleep(0.05)  # one that was interrupted may be about to end
        threads = [each for each in threading.enumerate() if each.name == "vyre-recompile"]
        assert len(threads) == 1, threads

    places = places_of(ask, all_lines=True)
    assert len(places) > 3
    wrong = wrong_at(places, ask, lambda: None)
    assert not wrong, "\n".join(wrong)


def while_a_thread_starts() -> None:
    """Python takes it for a thread that could not be started, which is at work already."""
    real: Any = threading._start_new_thread  # pyright: ignore[reportAttributeAccessIssue]

    def raise_anything(number: int, frame: object) -> None:
        raise Anything("of the handler")

    def start_and_interrupt(*arguments: object) -> int:
        made = real(*arguments)
        time.sleep(0.05)
        signal.raise_signal(signal.SIGALRM)
        return made

    signal.signal(signal.SIGALRM, raise_anything)
    keep_nothing()
    threading._start_new_thread = start_and_interrupt  # pyright: ignore[reportAttributeAccessIssue]
    said: object = "was swallowed"
    try:
        check_different(os.getpid())
    except Anything as problem:
        said = problem.args
    finally:
        threading._start_new_thread = real  # pyright: ignore[reportAttributeAccessIssue]
    assert said == ("of the handler",)
    assert not reproducers()
    check_different(os.getpid())


def while_a_lock_ends() -> None:
    """With the program that it belongs to: no code runs then, in which it would be lost."""
    ignored: list[object] = []
    sys.unraisablehook = lambda told: ignored.append(told.object)

    def raise_anything(number: int, frame: object) -> None:
        raise Anything("of the handler")

    def send(frame: FrameType, event: str, _: object) -> None:
        if frame.f_code.co_name == "_remove":
            signal.raise_signal(signal.SIGALRM)

    signal.signal(signal.SIGALRM, raise_anything)
    made = [make_lock() for _ in range(3)]
    sys.settrace(send)
    del made
    sys.settrace(None)
    assert not ignored
