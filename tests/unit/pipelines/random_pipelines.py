"""Random pipelines: loops, decisions, swaps, nesting, counts, and kernels of many kinds.

Each is compared with what Python does with the same text (`plain_python`), on every element.
`python -m tests.unit.pipelines.random_pipelines cpu 1000 60` tries them from number 1000 on, for 60
seconds.
"""

from __future__ import annotations

import linecache
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

import vyre as vy
from tests.unit.pipelines import plain_python
from tests.unit.pipelines.plain_python import TYPES, Host, trimmed
from tests.unit.pipelines.random_bodies import Body
from tests.unit.pipelines.random_kernels import Kernels
from tests.unit.pipelines.suite import copies, whatever_it_costs
from vyre.diagnostics import PlanError
from vyre.plan import tile_bounds

SHORT = (0, 1, 2, 3, 63, 64, 65)
LONG = (127, 130, 257, 700)
PLAIN = ("u8", "u16", "u32", "f32", "i32", "i16")
ALL = (*PLAIN, "i8", "f16", "bool_", "u64")
_HEAD = "from __future__ import annotations\nimport vyre as vy\n\n\n"


class RandomPipeline:
    """A pipeline of a number, as vyre and as Python run it."""

    def __init__(self, seed: int, kinds: tuple[str, ...] = PLAIN) -> None:
        rng = random.Random(seed)
        self.seed = seed
        self._kernels = Kernels(rng)
        bodies: list[Body] = []
        if rng.random() < 0.4:
            bodies.append(Body(self._kernels, kinds, "inner", rng.randint(1, 3), None))
        inner = bodies[0] if bodies else None
        bodies.append(Body(self._kernels, kinds, "outer", rng.randint(3, 7), inner))
        self._pipelines = "\n".join(line for body in bodies for line in body.text)
        self.text = _HEAD + "\n".join(self._kernels.lines) + "\n" + self._pipelines + "\n"

    def made(self) -> Any:
        """The pipeline."""
        name = f"<pipeline {self.seed}>"
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(keepends=True), name)
        module: dict[str, Any] = {"__name__": f"pipeline_{self.seed}"}
        exec(compile(self.text, name, "exec"), module)
        return module["outer"]

    def expected(self, given: tuple[Any, ...]) -> list[Host]:
        """Results, then arguments, as plain Python has them."""
        module: dict[str, Any] = {"vy": plain_python.Vyre(), **self._kernels.plain}
        text = "from __future__ import annotations\n" + self._pipelines
        exec(compile(text, "plain", "exec"), module)
        own = copies(given)
        return [*contents(trimmed(module["outer"](*own))), *contents(own)]


def arguments(pipeline: Any, length: int, seed: int) -> tuple[Any, ...]:
    """Arrays of a length, and a number of steps."""
    values = np.random.default_rng(seed + length)
    found: list[Any] = []
    for name, shown in pipeline.__wrapped__.__annotations__.items():
        if name in ("x", "w"):
            kind = str(shown).removesuffix("]").rsplit(".", 1)[1]
            found.append(values.integers(0, 120, length).astype(TYPES[kind]))
        elif name == "steps":
            found.append(seed % 5)
    return tuple(found)


def contents(values: Any) -> list[Host]:
    """All arrays among some values, on the host."""
    if isinstance(values, tuple):
        return [each for value in values for each in contents(value)]
    if isinstance(values, vy.DeviceArray):
        values = values.numpy()
    return [values] if isinstance(values, np.ndarray) else []


def _same(one: list[Host], two: list[Host]) -> bool:
    return [(a.dtype, a.shape, a.tobytes()) for a in one] == [
        (a.dtype, a.shape, a.tobytes()) for a in two
    ]


@contextmanager
def many_tiles() -> Iterator[None]:
    """Fuse whatever is legal, in tiles so small that short arrays have several."""
    before = tile_bounds._SCALES
    tile_bounds._SCALES = (32, 16, 8, 4, 2, 1)
    try:
        with whatever_it_costs():
            yield
    finally:
        tile_bounds._SCALES = before


def differences(
    seed: int, device: str, *, kinds: tuple[str, ...] = PLAIN, short: bool = True
) -> list[str]:
    """The ways to call a random pipeline that do not give what Python does."""
    written = RandomPipeline(seed, kinds)
    pipeline = written.made()
    found: list[str] = []
    # One in three by the cost model, the others with everything that is legal, in small tiles.
    with many_tiles() if seed % 3 else nullcontext():
        for length in (LONG[seed % len(LONG)], *([SHORT[seed % len(SHORT)]] if short else [])):
            given = arguments(pipeline, length, seed)
            expected = written.expected(given)
            for way, got in _outcomes(pipeline, given, device):
                if not _same(got, expected):
                    found.append(f"pipeline {seed} on {device}, {length} elements, {way}")
    return found


def _outcomes(pipeline: Any, given: tuple[Any, ...], device: str) -> list[tuple[str, list[Host]]]:
    found: list[tuple[str, list[Host]]] = []

    def note(way: str, own: tuple[Any, ...], results: Any) -> None:
        found.append((way, [*contents(results), *contents(own)]))

    try:
        own = copies(given)
        note("apart", own, pipeline.apart(*own, device=device))
    except PlanError as error:
        # Two names may stand for one array after swaps: no stage may write that then.
        if error.code != "P106":
            raise
        return []
    for way in ("first call", "second call", "third call"):
        own = copies(given)
        note(way, own, pipeline(*own, device=device))
    own = tuple(vy.array(a, device) if isinstance(a, np.ndarray) else a for a in given)
    note("device arrays", own, pipeline(*own))
    own = tuple(np.repeat(a, 2)[::2] if isinstance(a, np.ndarray) else a for a in given)
    note("views with strides", own, pipeline(*own, device=device))
    return found


def on_this_driver(seeds: range) -> list[str]:
    """What differs on the WebGPU device of this process."""
    return [each for seed in seeds for each in differences(seed, "wgpu:0", short=seed % 2 == 0)]


def main(device: str, first: str, seconds: str) -> int:
    """Try pipelines from a number on; prints what differs."""
    end, seed, many = time.monotonic() + float(seconds), int(first), 0
    while time.monotonic() < end:
        found = differences(seed, device, kinds=(PLAIN, ALL)[seed // 2 % 2])
        sys.stdout.writelines(f"{each}\n" for each in found)
        seed, many = seed + 1, many + len(found)
    sys.stdout.write(f"numbers {first} to {seed - 1} on {device}: {many} differences\n")
    return 1 if many else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
