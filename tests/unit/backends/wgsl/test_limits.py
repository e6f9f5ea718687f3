"""What a WebGPU device has too little of, and devices by name: messages tell what and how much."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import vyre
from tests.unit.backends.wgsl.drivers import DRIVERS, LAVAPIPE, SWIFTSHADER, Driver, worker
from tests.unit.backends.wgsl.running import check, target_of, the_device
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.targets import PORTABLE
from vyre.diagnostics import VyreError
from vyre.ir import Program

pytestmark = pytest.mark.device
drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)

COUNT_UP = """program workgroup({size}, 1, 1)
buffer x: read_write u32[] @0
x[gid.x] = x[gid.x] + 1u32
"""
TILE = """program workgroup(64, 1, 1)
buffer x: read_write u32[] @0
buffer tile: workgroup u32[{count}]
tile[lid.x] = {value}
barrier
x[gid.x] = tile[63u32 - lid.x]
"""
REVERSED = """program workgroup(64, 1, 1)
buffer x: read_write u32[] @0
buffer y: read_write u32[] @1 output live_out
x[gid.x] = x[gid.x] + 1u32
barrier grid_sync
y[gid.x] = x[len(x) - 1u32 - gid.x]
"""


def sums(buffers: int, *, trap: bool) -> str:
    """A program with this number of buffers in device memory."""
    names = [f"b{k}" for k in range(buffers - 1)]
    lines = ["program workgroup(4, 1, 1)"]
    lines += [f"buffer {name}: read_only u32[4] @{k}" for k, name in enumerate(names)]
    lines.append(f"buffer y: read_write u32[4] @{buffers} output live_out")
    lines.append("y[gid.x] = " + " + ".join(f"{name}[gid.x]" for name in names))
    lines += ['if b0[0] == 77u32 { trap "bad" }'] if trap else []
    return "\n".join(lines) + "\n"


def outcome(text: str, name: str = "wgpu:0") -> str:
    """What running a program says: its last output, or its error."""
    program = Program.parse(text)
    given = {
        decl.name: np.arange(decl.count or 128, dtype=np.uint32)
        for decl in program.buffers
        if decl.is_host_input
    }
    try:
        outputs = vyre.run(program, given, device=name)
    except VyreError as problem:
        return str(problem)
    return str(list(outputs.values())[-1].tolist())


@drivers
def test_workgroups_that_are_too_large(driver: Driver) -> None:
    limits = target_of(driver).limits
    most = limits.max_workgroup_size[0]
    assert worker(driver).call(outcome, COUNT_UP.format(size=most)).startswith("[1, 2")
    said = worker(driver).call(outcome, COUNT_UP.format(size=2 * most))
    assert f"extent in x is {2 * most}" in said
    assert f"allows {most}" in said


@drivers
def test_workgroup_memory_that_is_too_large(driver: Driver) -> None:
    most = target_of(driver).limits.max_workgroup_bytes
    fits = TILE.format(count=most // 4, value="x[gid.x]")
    assert worker(driver).call(outcome, fits).startswith("[63, 62")
    said = worker(driver).call(outcome, TILE.format(count=most // 4 + 1, value="x[gid.x]"))
    assert f"memory in bytes is {most + 4}" in said
    assert f"allows {most}" in said


@drivers
def test_too_many_buffers(driver: Driver) -> None:
    most = target_of(driver).limits.max_storage_buffers
    fits = worker(driver).call(outcome, sums(most, trap=False))
    assert fits == str([(most - 1) * k for k in range(4)])
    said = worker(driver).call(outcome, sums(most + 1, trap=False))
    assert f"buffers is {most + 1}" in said
    assert f"allows {most}" in said
    said = worker(driver).call(outcome, sums(most, trap=True))
    assert f"uses {most + 1} buffers in device memory ({most} of its own, 1 for its traps)" in said
    assert f"at most {most}" in said


def bound_beyond_the_limit() -> tuple[str, int]:
    """What is said of a binding that is one word too large, and the limit."""
    limit = the_device().binding_limit
    program = Program.parse(COUNT_UP.format(size=64))
    try:
        x = vyre.zeros(limit // 4 + 1, np.uint32, device="wgpu:0")
        vyre.run(program, {"x": x}, grid=1, device="wgpu:0")
    except VyreError as problem:
        return str(problem), limit
    return "no error", limit


def test_a_binding_beyond_the_limit() -> None:
    # On lavapipe only: buffers may be larger there than what is bound of them.
    said, limit = worker(LAVAPIPE).call(bound_beyond_the_limit)
    assert "B203" in said
    assert f"the buffer 'x' of {limit + 4:,} bytes" in said
    assert f"at most {limit:,} bytes" in said


def allocated(nbytes: int) -> str:
    """What is said of an array of that many bytes."""
    try:
        vyre.zeros(nbytes, np.uint8, device="wgpu:0").free()
    except VyreError as problem:
        return str(problem)
    return "fits"


def output_of(nbytes: int) -> str:
    """What is said of an output of that many bytes."""
    program = Program.parse(COUNT_UP.format(size=64).replace("@0", "@0 output live_out"))
    try:
        vyre.run(program, {}, sizes={"x": nbytes // 4}, grid=1, device="wgpu:0")
    except VyreError as problem:
        return str(problem)
    return "fits"


def largest() -> int:
    return the_device().largest_allocation()


def test_memory_beyond_the_limit() -> None:
    most = worker(LAVAPIPE).call(largest)
    for function, what in ((allocated, "an array"), (output_of, "the buffer 'x'")):
        said = worker(LAVAPIPE).call(function, most + 16)
        assert f"B203]: {what} of {most + 16:,} bytes is too large" in said
        assert f"at most {most:,} bytes" in said


@drivers
def test_rounding_makes_no_array_too_large(driver: Driver) -> None:
    # SwiftShader has no room for a whole GiB, to which this would be rounded up.
    assert worker(driver).call(allocated, 1_000_000_000) == "fits"


def test_uniform_buffers_beyond_the_limit_are_read_from_storage() -> None:
    names = [f"u{k}" for k in range(17)]
    lines = ["program workgroup(4, 1, 1)"]
    lines += [f"buffer {name}: uniform u32[1] @{k}" for k, name in enumerate(names)]
    lines += [
        "buffer bytes: read_write u8[] @20",
        "buffer y: read_write u32[4] @21 output live_out",
    ]
    lines += ["y[gid.x] = " + " + ".join(f"{name}[0]" for name in names) + " + len(bytes)"]
    inputs = {name: np.array([k], np.uint32) for k, name in enumerate(names)}
    program = Program.parse("\n".join(lines) + "\n")
    for driver in DRIVERS:
        check(driver, program, {**inputs, "bytes": np.zeros(7, np.uint8)})
    more = "".join(f"buffer w{k}: read_only u32[1] @{19 + k}\n" for k in range(2))
    stored = "".join(f"y[0] = w{k}[0]\n" for k in range(2))
    text = "\n".join(lines[:-1]) + f"\n{more}{lines[-1]}\n{stored}"
    with pytest.raises(VyreError, match=r"uses 9 .* \(3 of its own, 6 uniform ones beyond the 11"):
        emit_shader(Program.parse(text), PORTABLE)


@drivers
def test_a_barrier_over_the_whole_grid(driver: Driver) -> None:
    assert worker(driver).call(outcome, REVERSED) == str(list(range(128, 0, -1)))


@drivers
def test_devices_have_names(driver: Driver) -> None:
    text = COUNT_UP.format(size=64)
    alias = {LAVAPIPE: "wgpu:llvmpipe", SWIFTSHADER: "wgpu:swiftshader"}[driver]
    for name in ("wgpu", "wgpu:0", alias):
        assert worker(driver).call(outcome, text, name).startswith("[1, 2")
    said = worker(driver).call(outcome, text, "wgpu:nonsense")
    assert "D001" in said
    assert f"wgpu:0 ({alias}), cpu" in said


@pytest.mark.parametrize("name", ["wgpu", "wgpu:0", "wgpu:llvmpipe"])
def test_without_a_driver_every_name_says_so(name: str, tmp_path) -> None:
    program = tmp_path / "count.vy"
    program.write_text(COUNT_UP.format(size=64))
    hidden = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    command = [sys.executable, "-m", "vyre", "run", str(program), "--in", "x=ones:8"]
    ended = subprocess.run(
        [*command, "--device", name],
        env={**os.environ, **hidden},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert f"D002]: the device '{name}' is not available: no GPU driver was found" in ended.stderr
    assert "mesa-vulkan-drivers" in ended.stderr
