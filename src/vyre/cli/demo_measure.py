"""What the demonstration measures: is the result right, how fast, how long to compile."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.cache import DiskCache
from vyre.cli.demo_examples import Arrays, Call, Example
from vyre.conform.compare import compare_outputs
from vyre.conform.tolerance import tolerances
from vyre.diagnostics import VyreError
from vyre.driver.backend import DeviceInfo
from vyre.opt.hot_paths import HotPathHints
from vyre.record import dataclass
from vyre.runtime import compile, profile

_BUDGET = 0.2
"""Seconds in which a run is repeated to find its best time."""
_LEAST = 5
"""How often it is repeated though that takes longer, up to three times as long."""
_PATIENCE = 1.0
"""Seconds that one run may take; slower devices get a part of the data."""
_UNKNOWN = HotPathHints()
"""A program is compiled as if it had never run: what was hot yesterday is compiled otherwise."""
_STAGES = ("check", "optimise", "emit", "load", "cache hit")


@dataclass(frozen=True, slots=True)
class Figures:
    """One example on one device."""

    kernel: str
    what: str
    device: str
    problem: str = ""
    """What is wrong; empty when nothing is."""
    ran: bool = True
    """Whether there is a result at all."""
    seconds: float = 0.0
    numpy_seconds: float = 0.0
    against: str = "numpy"
    """What took `numpy_seconds`."""
    nbytes: int = 0
    part: int = 1
    """The data that was timed is this part of the whole."""
    compared_part: int = 1
    """The data that was compared with the reference is this part of the whole."""
    cold_seconds: float = 0.0
    cached_seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether all results were as they should be."""
        return not self.problem

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {**asdict(self), "right": self.is_right}


class Measurer:
    """Measures examples on devices; arrays, numpy's and the reference's results are kept."""

    def __init__(self) -> None:
        self._of = ""
        self._calls: dict[int, Call] = {}
        self._numpy: dict[int, tuple[float, Arrays]] = {}
        self._reference: dict[int, Arrays] = {}
        self._sizes: dict[str, int] = {}
        self._warm: set[str] = set()

    def measure(self, example: Example, info: DeviceInfo) -> Figures:
        """Compile, run, compare with the reference and with numpy."""
        if self._of != example.name:
            self._of = example.name
            for kept in (self._calls, self._numpy, self._reference, self._sizes):
                kept.clear()
        try:
            return self._measure(example, info)
        except VyreError as error:
            return Figures(example.name, example.what, info.id, str(error), ran=False)

    def _measure(self, example: Example, info: DeviceInfo) -> Figures:
        cold, cached = self._compile_times(example, info)
        size = self._size(example, info.id)
        call = self._call(example, size)
        seconds, outputs = _best(lambda: call.launch(info.id), call.restore)
        numpy_seconds, expected = self._by_numpy(example, size)
        problem = _against_numpy(example, expected, outputs)
        compared = min(size, self._size(example, "reference"))
        if not problem:
            problem = self._against_reference(example, compared, info.id)
        return Figures(
            example.name, example.what, info.id, problem, True, seconds, numpy_seconds,
            example.against, call.nbytes, _part(example, size),
            _part(example, compared), cold, cached,
        )  # fmt: skip

    def _compile_times(self, example: Example, info: DeviceInfo) -> tuple[float, float]:
        """Seconds to compile and load the example: for the first time, and from the cache."""
        program = self._call(example, example.small).program
        if info.id not in self._warm:
            # Have the compiler's own libraries loaded before it is timed for the first time.
            self._warm.add(info.id)
            odd = program().with_entry_op_id("warm-up")
            compile(odd, device=info.id, cache=DiskCache(Path("none"), 0)).load()
        with tempfile.TemporaryDirectory(prefix="vyre-demo-") as folder:
            cache = DiskCache(Path(folder), 1 << 30)
            times: list[float] = []
            for _ in range(3):
                fresh = program()
                with profile() as seen:
                    compile(fresh, device=info.id, cache=cache, hints=_UNKNOWN).load()
                times.append(sum(seen.total_ns(stage) for stage in _STAGES) / 1e9)
        return times[0], min(times[1:])

    def _call(self, example: Example, size: int) -> Call:
        if size not in self._calls:
            self._calls[size] = example.call(size)
        return self._calls[size]

    def _results(self, example: Example, size: int, device: str) -> Arrays:
        """The results of one run from the beginning, in arrays of their own."""
        call = self._call(example, size)
        call.restore()
        return {name: array.reshape(-1).copy() for name, array in call.launch(device).items()}

    def _size(self, example: Example, device: str) -> int:
        """The whole size, or the part of it that the device does in reasonable time."""
        if device not in self._sizes:
            size = example.small
            while size < example.size:
                spent = min(self._spent(example, size, device) for _ in range(3))
                if spent * (example.size / size) ** example.power <= _PATIENCE:
                    size = example.size
                elif spent * 4**example.power > _PATIENCE or size * 4 > example.size:
                    break
                else:
                    size *= 4
            self._sizes[device] = size
        return self._sizes[device]

    def _spent(self, example: Example, size: int, device: str) -> float:
        """Seconds that one run takes."""
        call = self._call(example, size)
        call.restore()
        started = time.perf_counter()
        call.launch(device)
        return time.perf_counter() - started

    def _against_reference(self, example: Example, size: int, device: str) -> str:
        if size not in self._reference:
            self._reference[size] = self._results(example, size, "reference")
        if device == "reference":
            return ""
        program = self._call(example, size).program()
        found = self._results(example, size, device)
        wrong = compare_outputs(program, self._reference[size], found, tolerances(program))
        return "; ".join(f"against the reference, {each}" for each in wrong)

    def _by_numpy(self, example: Example, size: int) -> tuple[float, Arrays]:
        if size not in self._numpy:
            self._numpy[size] = _best(self._call(example, size).by_numpy)
        return self._numpy[size]


def _part(example: Example, size: int) -> int:
    return round((example.size / size) ** example.power)


def _best(
    action: Callable[[], Arrays], ready: Callable[[], None] = lambda: None
) -> tuple[float, Arrays]:
    best = float("inf")
    started = time.perf_counter()
    outputs: Arrays = {}
    for number in range(30):
        ready()
        begin = time.perf_counter()
        outputs = action()
        end = time.perf_counter()
        best = min(best, end - begin)
        if end - started > _BUDGET and (number >= _LEAST - 1 or end - started > 3 * _BUDGET):
            break
    return best, outputs


def _against_numpy(
    example: Example, expected: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]
) -> str:
    for name, wanted in expected.items():
        found = outputs[name]
        if example.relative:
            same = np.allclose(found, wanted, rtol=example.relative, atol=example.relative)
        else:
            same = np.array_equal(found, wanted)
        if not same:
            return f"{name} differs from {example.against}'s"
    return ""
