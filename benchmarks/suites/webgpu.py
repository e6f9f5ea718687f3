"""What WebGPU costs through vyre, beside programs for it that were written by hand."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers import ROOT
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of

SWIFTSHADER = Path("/usr/lib/chromium/vk_swiftshader_icd.json")
"""The driver that chromium brings; the Vulkan loader is not told of it."""
BOUND = 1.2
NAMES = {
    "launch": "a launch, many in a submission",
    "awaited": "a launch, awaited",
    "upload": "upload",
    "readback": "readback",
}

INTRODUCTION = """\
Each figure stands beside a program written by hand with wgpu-py and WGSL that does the same work on
the same device, taking turns with vyre in one process. Kernels map every element to
`a ^ a >> 3` with `a = x * 3 + 1`, timed from the launch until the host knows that it has ended.
WGSL has 32-bit integers only: bytes and halves share words, and 64-bit integers are pairs of words.
A launch has nothing to do, so it shows the overhead: vyre's is a call of `vyre.run`. Both wait by
polling the device, the fastest way there is, though wgpu-py has it for its own code only."""


def run(options: Options) -> Report:
    """Every WebGPU device, each in a process of its own."""
    found = [measured(device, options) for device in devices()]
    failures = [answer["problem"] for answer in found if "problem" in answer]
    if not found:
        failures = ["no WebGPU device: apt-get install libvulkan1 mesa-vulkan-drivers chromium"]
    good = [answer for answer in found if "problem" not in answer]
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=[table for answer in good for table in tables(answer, options)],
        data={"devices": good},
        versions=versions_of("vyre", "wgpu", "numpy"),
        scale=options.scale,
        complete=options.complete,
        failures=failures,
    )


def environment() -> dict[str, str]:
    """With every driver that is here."""
    drivers = {"VK_ADD_DRIVER_FILES": str(SWIFTSHADER)} if SWIFTSHADER.exists() else {}
    return {"XDG_RUNTIME_DIR": tempfile.gettempdir(), **os.environ, **drivers}


def devices() -> list[str]:
    """The WebGPU devices that a process with all drivers finds."""
    command = [sys.executable, "-m", "vyre", "devices", "--json"]
    done = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    listed: list[dict[str, Any]] = json.loads(done.stdout)
    return [d["id"] for d in listed if d["backend"] == "wgpu" and d["available"]]


def measured(device: str, options: Options) -> dict[str, Any]:
    """What benchmarks/webgpu/measure.py says of a device."""
    command = [sys.executable, "-m", "benchmarks.webgpu.measure", device, options.scale]
    done = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    if done.returncode != 0:
        return {"problem": f"{device}: {done.stderr.strip().splitlines()[-1:]}"}
    return json.loads(done.stdout)


def tables(answer: Mapping[str, Any], options: Options) -> list[Table]:
    """Overheads and kernels of one device."""
    name = f"{answer['device']}: {answer['name']}"
    return [overheads(name, answer, options), kernels(name, answer, options)]


def overheads(name: str, answer: Mapping[str, Any], options: Options) -> Table:
    """Launches in microseconds, copies in gigabytes per second."""
    rows: list[list[str]] = []
    for key, words in NAMES.items():
        vyre, hand = figures(answer[key], options)
        held = verdict(vyre <= BOUND * hand, options)
        if key in ("upload", "readback"):
            shown = [f"{answer['copied'] / seconds / 1e9:.3g} GB/s" for seconds in (vyre, hand)]
        else:
            shown = [duration(vyre), duration(hand)]
        rows.append([words, *shown, f"{vyre / hand:.2f}", held])
    note = f"At most {BOUND} times what the program by hand takes."
    return Table(f"Overhead on {name}", ["what", "vyre", "by hand", "ratio", ""], rows, [note])


def kernels(name: str, answer: Mapping[str, Any], options: Options) -> Table:
    """Kernel times, and what emulation costs beside 32 bits."""
    native = figures(answer["kernels"]["u32"], options)[0]
    rows: list[list[str]] = []
    for kind, pair in answer["kernels"].items():
        vyre, hand = figures(pair, options)
        held = verdict(vyre <= BOUND * hand, options)
        cost = f"{vyre / native:.2f}"
        rows.append([kind, duration(vyre), duration(hand), f"{vyre / hand:.2f}", held, cost])
    columns = ["type", "vyre", "by hand", "ratio", "", "times u32"]
    note = f"{answer['elements']:,} elements; at most {BOUND} times what the shader by hand takes."
    return Table(f"Elementwise kernels on {name}", columns, rows, [note])


def figures(pair: Mapping[str, list[float]], options: Options) -> tuple[float, float]:
    """Seconds of vyre and by hand."""
    statistic = min if options.statistic == "best" else median
    return statistic(pair["vyre"]), statistic(pair["by hand"])


SUITE = Suite("webgpu", "WebGPU beside programs written by hand", run)
