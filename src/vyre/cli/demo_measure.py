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

from vyre.cli.demo_kernels import Arrays, Kernel
from vyre.conform.against_reference import reference_outputs
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.diagnostics import VyreError
from vyre.driver.backend import DeviceInfo
from vyre.record import dataclass
from vyre.runtime import CompiledProgram, compile, dispatch, profile
from vyre.runtime.cache import DiskCache

_BUDGET = 0.25
"""Seconds in which a run is repeated to find its best time."""
_LEAST = 5
"""How often it is repeated though that takes longer, up to four times as long."""
_PATIENCE = 3.0
"""Seconds that one run may take; slower devices get a part of the data."""
_STAGES = ("check", "optimise", "emit", "load", "cache hit")


@dataclass(frozen=True, slots=True)
class Figures:
    """One kernel on one device."""

    kernel: str
    what: str
    device: str
    problem: str = ""
    """What is wrong; empty when nothing is."""
    ran: bool = True
    """Whether there is a result at all."""
    seconds: float = 0.0
    numpy_seconds: float = 0.0
    nbytes: int = 0
    part: int = 1
    """The data that was used is this part of the whole."""
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
    """Measures kernels on devices; what numpy took is measured once per kernel and size."""

    def __init__(self) -> None:
        self._numpy: dict[tuple[str, int], tuple[float, Arrays]] = {}
        self._warm: set[str] = set()
        self._reference: dict[tuple[str, int, int], Arrays] = {}
        self._data: dict[tuple[str, int], Arrays] = {}

    def measure(self, kernel: Kernel, info: DeviceInfo) -> Figures:
        """Compile, run on the whole data, compare with the reference and with numpy."""
        try:
            return self._measure(kernel, info)
        except VyreError as error:
            return Figures(kernel.name, kernel.what, info.id, str(error), ran=False)

    def _measure(self, kernel: Kernel, info: DeviceInfo) -> Figures:
        with tempfile.TemporaryDirectory(prefix="vyre-demo-") as folder:
            cache = DiskCache(Path(folder), 1 << 30)
            self._warm_up(kernel, info)
            compiled, cold = self._compiled(kernel, info, cache)
            cached = min(self._compiled(kernel, info, cache)[1] for _ in range(2))
        size = self._size(kernel, compiled)
        given = self._inputs(kernel, size)
        seconds, outputs = _best(lambda: _run(compiled, kernel, given, size))
        numpy_seconds, expected = self._by_numpy(kernel, size)
        problem = self._against_reference(kernel, compiled, size, outputs)
        problem = problem or _against_numpy(kernel, expected, outputs)
        touched = sum(array.nbytes for array in (*given.values(), *outputs.values()))
        part = round(kernel.size / size)
        return Figures(
            kernel.name, kernel.what, info.id, problem, True, seconds, numpy_seconds, touched, part,
            cold, cached,
        )  # fmt: skip

    def _compiled(
        self, kernel: Kernel, info: DeviceInfo, cache: DiskCache
    ) -> tuple[CompiledProgram, float]:
        """The kernel, read anew and compiled; and how long that and loading it took."""
        program = kernel.program()
        with profile() as seen:
            compiled = compile(program, device=info.id, cache=cache)
            _run(compiled, kernel, self._inputs(kernel, kernel.small), kernel.small)
        return compiled, sum(seen.total_ns(stage) for stage in _STAGES) / 1e9

    def _warm_up(self, kernel: Kernel, info: DeviceInfo) -> None:
        """Have the compiler's own libraries loaded before it is timed for the first time."""
        if info.id not in self._warm:
            self._warm.add(info.id)
            program = kernel.program().with_entry_op_id("warm-up")
            compiled = compile(program, device=info.id, cache=DiskCache(Path("none"), 0))
            _run(compiled, kernel, self._inputs(kernel, kernel.small), kernel.small)

    def _inputs(self, kernel: Kernel, size: int) -> Arrays:
        key = (kernel.name, size)
        if key not in self._data:
            self._data = {k: v for k, v in self._data.items() if k[0] == kernel.name}
            self._data[key] = kernel.make(size)
        return self._data[key]

    def _against_reference(
        self, kernel: Kernel, compiled: CompiledProgram, size: int, outputs: Arrays
    ) -> str:
        """What the reference says of the results, on all of the data."""
        width = compiled.target.subgroup_width
        key = (kernel.name, size, width)
        program = compiled.compilation.source
        if key not in self._reference:
            given = self._inputs(kernel, size)
            self._reference = {k: v for k, v in self._reference.items() if k[0] == kernel.name}
            self._reference[key] = reference_outputs(
                program, given, kernel.grid(size), outputs, width
            )
        tolerances = dict.fromkeys(outputs, Tolerance(ulps=kernel.ulps))
        wrong = compare_outputs(program, self._reference[key], outputs, tolerances)
        return "; ".join(f"against the reference, {each}" for each in wrong)

    def _size(self, kernel: Kernel, compiled: CompiledProgram) -> int:
        """The whole size, or the part of it that the device can do in reasonable time."""
        size = kernel.small
        given = self._inputs(kernel, size)
        _run(compiled, kernel, given, size)
        started = time.perf_counter()
        _run(compiled, kernel, given, size)
        predicted = (time.perf_counter() - started) * kernel.size / size
        return kernel.size if predicted <= _PATIENCE else size

    def _by_numpy(self, kernel: Kernel, size: int) -> tuple[float, Arrays]:
        key = (kernel.name, size)
        if key not in self._numpy:
            given = self._inputs(kernel, size)
            self._numpy[key] = _best(lambda: kernel.expected(given))
        return self._numpy[key]


def _run(compiled: CompiledProgram, kernel: Kernel, given: Arrays, size: int) -> Arrays:
    return dispatch(compiled, given, kernel.grid(size), None, kernel.outputs(size))


def _best(action: Callable[[], Arrays]) -> tuple[float, Arrays]:
    best = float("inf")
    started = time.perf_counter()
    outputs: Arrays = {}
    for number in range(30):
        begin = time.perf_counter()
        outputs = action()
        end = time.perf_counter()
        best = min(best, end - begin)
        if end - started > _BUDGET and (number >= _LEAST - 1 or end - started > 4 * _BUDGET):
            break
    return best, outputs


def _against_numpy(
    kernel: Kernel, expected: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]
) -> str:
    for name, wanted in expected.items():
        found = outputs[name]
        if kernel.relative:
            same = np.allclose(found, wanted, rtol=kernel.relative, atol=kernel.relative)
        else:
            same = np.array_equal(found, wanted)
        if not same:
            return f"{name} differs from numpy's"
    return ""
