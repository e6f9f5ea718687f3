"""Pipelines after settling: no plan that calls run by may be slower than its stages apart."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.peers import ROOT
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.suites.webgpu import devices, environment

SETTLED_BOUND = 1.03
COLD_BOUND = 1.15
DEADLINE = 900.0

INTRODUCTION = """\
Every pipeline of the suite on every device that is here, against its stages apart: by the plan that
was predicted before anything was timed, and by the one that calls have settled on. All three take
turns in one process, on arrays of the device, from the call until the device has done it; the
figures are medians of the ratios of a turn. GPUs that are software run small sizes."""


def run(options: Options) -> Report:
    """The CPU and every WebGPU device, each in a process of its own."""
    found = [measured(device, options) for device in ("cpu", *devices())]
    good = [answer for answer in found if "problem" not in answer]
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=[table_of(answer, options) for answer in good],
        data={"devices": good},
        versions=versions_of("vyre", "llvmlite", "wgpu"),
        scale=options.scale,
        complete=options.complete,
        failures=[answer["problem"] for answer in found if "problem" in answer],
    )


def measured(device: str, options: Options) -> dict[str, Any]:
    """What benchmarks/pipelines/settled.py says of a device."""
    command = [sys.executable, "-m", "benchmarks.pipelines.settled", device, options.scale]
    done = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=DEADLINE,
    )  # fmt: skip
    if done.returncode != 0:
        return {"problem": f"{device}: {done.stderr.strip().splitlines()[-1:]}"}
    return json.loads(done.stdout)


def table_of(answer: Mapping[str, Any], options: Options) -> Table:
    """The pipelines of one device."""
    rows: list[list[str]] = []
    for case in answer["cases"]:
        cold, settled = case["cold"], case["settled"]
        rows.append(
            [
                case["name"],
                f"{case['launches']} of {case['stages']}",
                duration(case["apart"]),
                f"{cold:.3f}",
                verdict(cold <= COLD_BOUND, options),
                f"{settled:.3f}",
                verdict(settled <= SETTLED_BOUND, options),
            ]
        )
    columns = ["pipeline", "launches", "apart", "predicted", "", "settled", ""]
    notes = [
        f"At most {COLD_BOUND:g} as predicted, and {SETTLED_BOUND:g} once settled. Launches are "
        "those of the settled plan, of as many stages."
    ]
    return Table(f"On {answer['device']}: {answer['name']}", columns, rows, notes)


SUITE = Suite("settling", "Pipelines after settling", run)
"""Every pipeline, as predicted and as settled, against its stages apart."""
