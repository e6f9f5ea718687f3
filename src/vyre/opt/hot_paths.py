"""Hot-path hints: how long regions took when they ran, remembered within bounds.

Launches record; selection reads. A hint is about speed and never about
correctness: a pass must be right whether or not a region is known to be hot.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.locks import make_lock
from vyre.opt.files import write_atomically
from vyre.record import dataclass
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.ir import Body, Program

DEFAULT_CAPACITY = 256
DEFAULT_HOT_THRESHOLD_NS = 100_000
_MOST = (1 << 64) - 1
_OF = "@"
"""Between a name and the program in which it was measured."""
_DIGITS = 16
"""Of a digest, enough to tell programs apart."""


@dataclass(frozen=True, slots=True)
class RegionRecord:
    """What was measured of one region."""

    dispatch_count: int = 0
    kernel_ns_total: int = 0
    kernel_ns_max: int = 0
    bytes_total: int = 0

    @property
    def mean_kernel_ns(self) -> int:
        """The mean time of a dispatch; 0 without samples."""
        return self.kernel_ns_total // self.dispatch_count if self.dispatch_count else 0


class _Entry:
    """Sums that grow with every dispatch; plain fields, for recording is on every launch's way."""

    __slots__ = ("at", "count", "most_ns", "nbytes", "total_ns", "weight", "weighted_ns")

    def __init__(
        self,
        count: int,
        total_ns: int,
        most_ns: int,
        nbytes: int,
        weight: float,
        weighted_ns: float,
        at: float,
    ) -> None:
        self.count = count
        self.total_ns = total_ns
        self.most_ns = most_ns
        self.nbytes = nbytes
        self.weight = weight
        """Samples, older ones counting less; without a half-life simply their number."""
        self.weighted_ns = weighted_ns
        self.at = at


class HotPathHints:
    """A bounded store of records by region; the region used longest ago makes room first.

    With `half_life_s`, a sample counts half after that time, and a region that no longer runs
    cools down. Without it sums are exact. Safe to use from several threads.
    """

    def __init__(
        self,
        capacity: int = DEFAULT_CAPACITY,
        hot_threshold_ns: int = DEFAULT_HOT_THRESHOLD_NS,
        half_life_s: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _in_range("the capacity", capacity, capacity >= 0, "give 0 (record nothing) or more")
        _in_range("the threshold", hot_threshold_ns, hot_threshold_ns >= 0, "give 0 or more")
        if half_life_s is not None:
            _in_range("the half-life", half_life_s, half_life_s > 0, "give seconds above 0")
        self.capacity = capacity
        self.hot_threshold_ns = hot_threshold_ns
        self.half_life_s = half_life_s
        self._clock = clock
        self._lock = make_lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return (
            f"HotPathHints(capacity={self.capacity}, hot_threshold_ns={self.hot_threshold_ns}, "
            f"{len(self)} regions)"
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is recorded."""
        return not self._entries

    def record(self, region: str, kernel_ns: int, bytes_touched: int) -> None:
        """Add one dispatch of a region."""
        if kernel_ns < 0 or bytes_touched < 0:
            _in_range("the time", kernel_ns, kernel_ns >= 0, "give nanoseconds from 0")
            _in_range("the bytes", bytes_touched, bytes_touched >= 0, "give a number from 0")
        if self.capacity == 0:
            return
        now = 0.0 if self.half_life_s is None else self._clock()
        with self._lock:
            entries = self._entries
            entry = entries.get(region)
            if entry is not None:
                entries.move_to_end(region)
            else:
                entry = entries[region] = _Entry(0, 0, 0, 0, 0.0, 0.0, now)
                if len(entries) > self.capacity:
                    entries.popitem(last=False)
            if now:
                keep = self._decay(entry, now)
                entry.weight *= keep
                entry.weighted_ns *= keep
                entry.at = now
            entry.count += 1
            entry.total_ns += kernel_ns
            entry.nbytes += bytes_touched
            if kernel_ns > entry.most_ns:
                entry.most_ns = kernel_ns
            entry.weight += 1.0
            entry.weighted_ns += kernel_ns

    def is_hot(self, region: str) -> bool:
        """Whether the region's mean time reaches the threshold; never for an unknown region.

        A name stands for everything that was recorded under it, in whichever program.
        """
        with self._lock:
            return self._is_hot(self._under(region))

    def is_hot_program(self, program: Program) -> bool:
        """Whether a program was measured to be hot, or something is recorded under its names.

        What was measured of other programs does not count, whatever their names are.
        """
        if self.is_empty:
            return False
        with self._lock:
            return any(self._is_hot([entry]) for entry in self._of(program))

    def records_of(self, program: Program) -> list[RegionRecord]:
        """What was measured of a program, or is recorded under its names."""
        with self._lock:
            return [_as_record(entry) for entry in self._of(program)]

    def dispatch_count(self, region: str) -> int:
        """How many dispatches of the region were recorded."""
        return self._snapshot(region).dispatch_count

    def mean_kernel_ns(self, region: str) -> int:
        """The mean time of the region's dispatches; 0 for an unknown region."""
        return self._snapshot(region).mean_kernel_ns

    def record_for(self, region: str) -> RegionRecord | None:
        """What was measured of the region, in whichever program; None for an unknown one."""
        with self._lock:
            found = self._under(region)
            return _as_record(_sum(found)) if found else None

    def save(self, path: Path | str) -> None:
        """Keep the records for the next process; the file is replaced whole or not at all."""
        write_atomically(str(path), self.to_bytes().decode())

    def to_bytes(self) -> bytes:
        """The records, for `from_bytes`."""
        from vyre.opt import hint_rows  # json takes longer to import than a launch takes

        with self._lock:
            rows = [_to_row(region, entry) for region, entry in self._entries.items()]
        return hint_rows.to_bytes(rows)

    @classmethod
    def load(
        cls,
        path: Path | str,
        capacity: int = DEFAULT_CAPACITY,
        hot_threshold_ns: int = DEFAULT_HOT_THRESHOLD_NS,
        half_life_s: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """What was saved; a missing, torn or foreign file is an empty store."""
        # Telemetry may be lost but must never stop a compilation, so a bad file counts as none.
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as problem:
            if is_from_handler(problem):
                raise
            data = b""
        return cls.from_bytes(data, capacity, hot_threshold_ns, half_life_s, clock)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        capacity: int = DEFAULT_CAPACITY,
        hot_threshold_ns: int = DEFAULT_HOT_THRESHOLD_NS,
        half_life_s: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """What `to_bytes` gave; anything else is an empty store."""
        from vyre.opt import hint_rows

        hints = cls(capacity, hot_threshold_ns, half_life_s, clock)
        rows = hint_rows.from_bytes(data)
        for row in rows[len(rows) - min(len(rows), capacity) :]:
            region, entry = _from_row(row)
            hints._entries[region] = entry
        return hints

    def _under(self, region: str) -> list[_Entry]:
        """What was recorded under a name, by itself and in programs."""
        own = self._entries.get(region)
        head = region + _OF
        measured = [
            entry
            for key, entry in self._entries.items()
            if key.startswith(head) and len(key) == len(head) + _DIGITS
        ]
        return measured if own is None else [own, *measured]

    def _of(self, program: Program) -> list[_Entry]:
        keys = *dispatch_keys(program), *region_keys(program), *hint_keys(program)
        return [self._entries[key] for key in dict.fromkeys(keys) if key in self._entries]

    def _is_hot(self, entries: list[_Entry]) -> bool:
        if not entries:
            return False
        if self.half_life_s is None:
            total = sum(entry.total_ns for entry in entries)
            return total >= self.hot_threshold_ns * sum(entry.count for entry in entries)
        now = self._clock()
        weight = sum(entry.weight for entry in entries)
        decayed = sum(entry.weighted_ns * self._decay(entry, now) for entry in entries)
        return decayed / weight >= self.hot_threshold_ns

    def _snapshot(self, region: str) -> RegionRecord:
        return self.record_for(region) or RegionRecord()

    def _decay(self, entry: _Entry, now: float) -> float:
        if self.half_life_s is None:
            return 1.0
        return 0.5 ** (max(now - entry.at, 0.0) / self.half_life_s)


def hint_keys(program: Program) -> tuple[str, ...]:
    """The names that a program goes by.

    The entry's id and the generators of its regions; the root region's generator belongs to every
    program, so a program with no other name goes by its digest.
    """
    return program.memo("hint_keys", _hint_keys)


def dispatch_keys(program: Program) -> tuple[str, ...]:
    """The keys under which dispatches of a program are recorded: its names in this very program.

    Two scripts may have kernels or regions of one name, and what one of them measured is nothing
    to the other. A program of several regions has one key for all of them together.
    """
    return program.memo("dispatch_keys", _dispatch_keys)


def _dispatch_keys(program: Program) -> tuple[str, ...]:
    digest, names = program.digest(), hint_keys(program)
    if names == (digest,):
        return names
    if region_keys(program):
        # The time of several regions together is not that of any of them.
        names = ("+".join(names) if program.entry_op_id is None else program.entry_op_id,)
    return tuple(f"{name}{_OF}{digest[:_DIGITS]}" for name in names)


def region_keys(program: Program) -> tuple[str, ...]:
    """The keys of a program's regions, where it has several: each has a time of its own."""
    return program.memo("region_keys", _region_keys)


def _region_keys(program: Program) -> tuple[str, ...]:
    of, entry = f"{_OF}{program.digest()[:_DIGITS]}", program.entry_op_id
    keys = tuple(name + of for name in hint_keys(program) if name != entry)
    return keys if len(keys) > 1 else ()


def name_of(key: str) -> str:
    """The name in a key of `dispatch_keys`."""
    name, of, rest = key.rpartition(_OF)
    return name if of and len(rest) == _DIGITS else key


def _hint_keys(program: Program) -> tuple[str, ...]:
    from vyre.ir.stmt import ROOT_GENERATOR, Region

    names = {} if program.entry_op_id is None else {program.entry_op_id: None}

    def add_generators(body: Body) -> None:
        # Most statements hold no others; this is on the way of every first launch.
        for statement in body:
            if type(statement) is Region and statement.generator != ROOT_GENERATOR:
                names[statement.generator] = None
            if statement.depth > 1:
                for field in statement.body_fields:
                    add_generators(getattr(statement, field))

    add_generators(program.entry)
    return tuple(names) or (program.digest(),)


def _in_range(field: str, found: float, good: bool, expected: str) -> None:
    if not good:
        raise OptimizerError(codes.BAD_HINTS.at(field=field, found=found, expected=expected))


def _as_record(entry: _Entry) -> RegionRecord:
    """The sums, held at the greatest value that a record can have."""
    return RegionRecord(
        min(entry.count, _MOST),
        min(entry.total_ns, _MOST),
        min(entry.most_ns, _MOST),
        min(entry.nbytes, _MOST),
    )


def _sum(entries: list[_Entry]) -> _Entry:
    return _Entry(
        sum(entry.count for entry in entries),
        sum(entry.total_ns for entry in entries),
        max(entry.most_ns for entry in entries),
        sum(entry.nbytes for entry in entries),
        sum(entry.weight for entry in entries),
        sum(entry.weighted_ns for entry in entries),
        max(entry.at for entry in entries),
    )


def _to_row(region: str, entry: _Entry) -> list[Any]:
    record = _as_record(entry)
    return [
        region,
        record.dispatch_count,
        record.kernel_ns_total,
        record.kernel_ns_max,
        record.bytes_total,
        entry.weight,
        entry.weighted_ns,
        entry.at,
    ]


def _from_row(row: list[Any]) -> tuple[str, _Entry]:
    region, count, total, most, touched, weight, weighted_ns, at = row
    return region, _Entry(count, total, most, touched, weight, weighted_ns, at)
