"""Programs on a driver and on the reference, and whether both agree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.unit.backends.wgsl import tint
from tests.unit.backends.wgsl.drivers import Driver, worker
from vyre.backends.reference import execute
from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.device import WgpuDevice
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.targets import PORTABLE
from vyre.conform.compare import Tolerance, matches
from vyre.driver.backend import Argument, EmitOptions
from vyre.ir import DataType, Program
from vyre.semantics import storage_dtype
from vyre.target import Target

Arrays = Mapping[str, NDArray[Any]]
Grid = tuple[int, int, int]


@cache
def the_device() -> WgpuDevice:
    """The one device of a worker's process."""
    found = WgpuBackend().probe()
    assert len(found) == 1, [d.info for d in found]
    assert found[0].info.available, found[0].info.reason
    return found[0]


def device_target() -> Target:
    """What the device of a worker's process can do."""
    return WgpuBackend().target(the_device())


def on_device(program: Program, inputs: Arrays, grid: Grid, sizes: Mapping[str, int]) -> Any:
    """The outputs of a program, by name; runs in the process of a driver."""
    backend, device = WgpuBackend(), the_device()
    artifact = backend.emit(program, backend.target(device), EmitOptions())
    executable = backend.load(artifact, device)
    arguments: list[Argument] = []
    for decl in program.buffers:
        if decl.is_on_chip:
            continue
        given = inputs.get(decl.name)
        size = decl.element.size_bytes or 0
        count = sizes.get(decl.name, decl.count)
        if given is not None:
            count = given.nbytes // size
        memory = device.allocate(count * size)
        if given is not None and decl.is_host_input:
            memory.write(memoryview(given.tobytes()))
        arguments.append(Argument(memory, count))
    executable.launch(arguments, grid)
    outputs: dict[str, NDArray[Any]] = {}
    on_device = [decl for decl in program.buffers if not decl.is_on_chip]
    for decl, argument in zip(on_device, arguments, strict=True):
        if decl.is_host_output:
            data = bytearray(argument.count * (decl.element.size_bytes or 0))
            argument.memory.read(memoryview(data))
            outputs[decl.name] = np.frombuffer(bytes(data), storage_dtype(decl.element))
        argument.memory.release()
    return outputs


def check(
    driver: Driver,
    program: Program,
    inputs: Arrays | None = None,
    grid: Grid = (1, 1, 1),
    sizes: Mapping[str, int] | None = None,
    bound: float = 0.0,
) -> dict[str, NDArray[Any]]:
    """Run on the driver and on the reference; AssertionError where they differ."""
    program.validate()
    given, lengths = inputs or {}, sizes or {}
    target = target_of(driver)
    shader = emit_shader(program, target)
    for tried in (shader, emit_shader(program, PORTABLE)):
        # 64-bit atomics of the device are an extension of naga that Tint does not know.
        if "atomic<u64>" not in tried.text and "atomic<i64>" not in tried.text:
            refusal = tint.problems(tried.text) or tint.problems(tried.general)
            assert refusal is None, f"{refusal}\n{tried.text}"
    want = execute(
        program, given, grid, subgroup_width=target.subgroup_width, output_sizes=lengths
    ).outputs
    got = worker(driver).call(on_device, program, given, grid, lengths)
    for name, expected in want.items():
        decl = program.buffer(name)
        assert decl is not None
        where = different(decl.element, expected.reshape(-1), got[name], bound)
        if len(where):
            few = [(int(k), got[name][k], expected.reshape(-1)[k]) for k in where[:5]]
            raise AssertionError(
                f"{driver.name}: {name} differs at {len(where)} of {expected.size} places "
                f"(place, found, expected): {few}\n{shader.text}"
            )
    return got


@cache
def target_of(driver: Driver) -> Target:
    """What a driver's device can do."""
    return worker(driver).call(device_target)


def different(
    element: DataType, want: NDArray[Any], got: NDArray[Any], bound: float
) -> NDArray[np.int64]:
    """Where results differ by more than they may."""
    same = matches(element, want, got, Tolerance(ulps=bound))
    return np.flatnonzero(~same)
