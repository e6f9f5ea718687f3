"""The pipelines of the benchmarks: as planned, as apart, and as numpy defines them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.kernel import Array
from benchmarks.pipelines import CASES
from benchmarks.pipelines.case import (
    Arguments,
    PipelineCase,
    copies,
    disagreement,
    outcome,
    resident,
)

GROUP = 64
"""Invocations of a workgroup; a decoder of base64 writes 192 bytes with one."""
LENGTHS = (0, 1, GROUP - 1, GROUP, GROUP + 1, 3 * GROUP - 1, 3 * GROUP, 3 * GROUP + 1, 1000)
FEW = (0, 3 * GROUP + 1)
LARGE = 1_000_007


def named(name: str) -> PipelineCase:
    """The case of a name."""
    return next(case for case in CASES if case.name == name)


def wrong(case: PipelineCase, device: str, lengths: tuple[int, ...]) -> list[str]:
    """What differs on a device: from numpy, and from the stages apart."""
    found: list[str] = []
    for n in lengths:
        given = case.make(n)
        expected = list(case.define(*given))
        for way, got in _outcomes(case, given, device):
            said = disagreement(expected, got)
            if said:
                found.append(f"{case.name} on {device}, {n} elements, {way}: {said}")
    return found


def _outcomes(
    case: PipelineCase, given: Arguments, device: str
) -> Iterator[tuple[str, list[Array]]]:
    apart, planned = copies(given), copies(given)
    yield "apart", outcome(case, apart, case.pipeline.apart(*apart, device=device))
    yield "planned", outcome(case, planned, case.pipeline(*planned, device=device))
    if max((each.size for each in given if isinstance(each, np.ndarray)), default=0) < LARGE:
        again, on_device = copies(given), resident(given, device)
        yield "planned again", outcome(case, again, case.pipeline(*again, device=device))
        yield "device arrays", outcome(case, on_device, case.pipeline(*on_device))


def on_this_driver(lengths: tuple[int, ...]) -> list[str]:
    """What differs on the WebGPU device of this process."""
    return [each for case in CASES for each in wrong(case, "wgpu:0", lengths)]


def main() -> int:
    """All lengths on all devices of the tests; prints what differs."""
    from tests.unit.backends.wgsl.drivers import DRIVERS, worker

    found = [each for case in CASES for each in wrong(case, "reference", LENGTHS)]
    found += [each for case in CASES for each in wrong(case, "cpu", (*LENGTHS, LARGE))]
    for driver in DRIVERS:
        found += worker(driver).call(on_this_driver, LENGTHS, deadline=1800.0)
    sys.stdout.write("\n".join(found) or f"{len(CASES)} pipelines: as defined on every device\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
