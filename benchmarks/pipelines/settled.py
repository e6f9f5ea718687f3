"""`python -m benchmarks.pipelines.settled DEVICE SCALE`: one device, in a process of its own.

Every case of the suite as its stages apart, by the plan that was predicted, and by the one that
timing has settled on. The three take turns.
"""
# pyright: standard

import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import vyre as vy
from benchmarks.kernel import Scale
from benchmarks.peers.foreign import load
from benchmarks.pipelines import CASES
from benchmarks.pipelines.case import PipelineCase, resident

ELEMENTS: dict[str, dict[Scale, int]] = {
    "cpu": {"full": 1 << 20, "quick": 1 << 16, "tiny": 1 << 8},
    "wgpu": {"full": 1 << 16, "quick": 1 << 13, "tiny": 1 << 8},
}
"""By backend: a GPU that is software takes as long for a sixteenth."""
ROUNDS: dict[Scale, int] = {"full": 11, "quick": 5, "tiny": 1}
WARM: dict[Scale, int] = {"full": 60, "quick": 40, "tiny": 2}
"""Most calls until a plan has settled: 8 as predicted, and 10 of both plans."""
LONGEST = 6.0
"""Seconds of warming up a case; what does not settle in them is measured as it is."""
UNLIMITED = {"scratch_bytes": 1 << 62}
"""A contract that nothing breaks: its plan is the predicted one, and never timed."""


def main(device: str, scale: Scale) -> None:
    """Prints everything as JSON."""
    backend = device.split(":")[0]
    found = [measured(case, ELEMENTS[backend][scale], device, scale) for case in CASES]
    name = load("vyre.driver.routing").choose(device).device.info.name
    print(json.dumps({"device": device, "name": name, "cases": found}))


def measured(case: PipelineCase, n: int, device: str, scale: Scale) -> dict[str, Any]:
    """Median ratios of one case to its stages apart."""
    predicted = vy.pipeline(require=UNLIMITED)(case.pipeline.__wrapped__)
    ways = {"apart": case.pipeline.apart, "cold": predicted, "settled": case.pipeline}
    given = case.make(n)
    timers = {way: timer(call, case, given, device) for way, call in ways.items()}
    deadline = time.monotonic() + LONGEST
    for _ in range(WARM[scale]):
        for seconds in timers.values():
            seconds()
        if time.monotonic() > deadline:
            break
    times: dict[str, list[float]] = {way: [] for way in timers}
    for turn in range(ROUNDS[scale]):
        for way in list(timers)[:: 1 if turn % 2 else -1]:
            # What ran before has left the caches to itself.
            timers[way]()
            times[way].append(timers[way]())
    ratios = {
        way: median(own / apart for own, apart in zip(times[way], times["apart"], strict=True))
        for way in ("cold", "settled")
    }
    plan = case.pipeline.plan(*given, device=device)
    stages = sum(len(each.stages) for each in plan.launches)
    launches = len(plan.launches)
    apart = median(times["apart"])
    return {"name": case.name, "apart": apart, **ratios, "launches": launches, "stages": stages}


def timer(
    call: Callable[..., object], case: PipelineCase, given: tuple[Any, ...], device: str
) -> Callable[[], float]:
    """Measures a call on arrays of a device, until the device has done it."""
    placed = list(resident(given, device))
    own = load("vyre.driver.routing").choose(device).device

    def seconds() -> float:
        for position in case.changed:
            placed[position] = vy.array(given[position], device)
        own.synchronize()
        started = time.perf_counter()
        call(*placed)
        own.synchronize()
        return time.perf_counter() - started

    return seconds


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])  # pyright: ignore[reportArgumentType]
