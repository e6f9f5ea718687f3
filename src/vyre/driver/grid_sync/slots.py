"""A program on bytes, slot by slot, with nothing but a backend.

This is the launch that everything else is built around: no names, no arrays, no cache, no
optimizer. Inputs are the bytes of every buffer that the host fills, in the order of declaration;
what comes back are those of every buffer that the host reads.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import field
from math import prod
from typing import Any

from vyre.diagnostics import ArgumentError, ExecutionError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import grid as grids
from vyre.driver.backend import (
    Argument,
    Backend,
    Device,
    EmitOptions,
    Executable,
    LaunchRecord,
)
from vyre.driver.given_backend import route_of
from vyre.driver.grid_sync.dispatch import run_split
from vyre.driver.grid_sync.emission import emit_segments
from vyre.driver.grid_sync.outline import contains_collective, contains_grid_sync
from vyre.driver.grid_sync.plan import SplitPlan
from vyre.driver.grid_sync.segment_errors import in_segment
from vyre.driver.grid_sync.split import split
from vyre.driver.lengths import TOO_LONG, check_sizes
from vyre.driver.routing import Route
from vyre.ir import BufferDecl, Program
from vyre.record import dataclass
from vyre.signals import is_from_handler
from vyre.target import Feature, Target


@dataclass(frozen=True, slots=True)
class DispatchConfig:
    """How a program is launched, besides what it works on."""

    grid: Sequence[int] | int | None = None
    """Workgroups; without them, what `elements` or the longest buffer that is written needs."""
    elements: Sequence[int] | int | None = None
    """Invocations that the grid covers, and the length of outputs that have none else."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Elements of outputs whose count is not declared."""
    deadline: float | None = None
    """Seconds."""
    emit: EmitOptions = field(default_factory=EmitOptions)


def dispatch_with_grid_sync_split(
    backend: Backend | str,
    program: Program,
    inputs: Sequence[Any],
    config: DispatchConfig | None = None,
) -> list[bytes]:
    """Run a program on a device, or on the first one of a backend; gives the bytes of each output.

    Where the device has no barrier over the whole grid, the program is split at its barriers and
    the segments are launched one after the other on memory that stays on the device; an error says
    which segment it comes from. Elsewhere it is launched as it is. `inputs` are objects with the
    buffer protocol, and are not changed.
    """
    # A program that is launched from the cache needs this package, but no checker.
    from vyre.check import validate

    if not isinstance(program, Program):
        raise ArgumentError(codes.NOT_A_PROGRAM.at(found=program))
    chosen = config or DispatchConfig()
    route = route_of(backend)
    target = route.backend.target(route.device)
    validate(program, target)
    given = _as_bytes(program, inputs)
    is_split = contains_grid_sync(program) and not target.has(Feature.GRID_SYNC)
    plan = split(program) if is_split else None
    executables = _loaded(program, route, target, chosen.emit, plan)
    with ExitStack() as stack:
        bound = _bound(program, route.device, given, chosen, stack)
        counts = {name: argument.count for name, argument in bound.items()}
        grid = _indirect_grid(program, bound)
        if grid is None:
            grid = grids.resolve(program, counts, chosen.grid, chosen.elements)
        try:
            if plan is not None:
                record = run_split(plan, executables, route.device, bound, grid, chosen.deadline)
            elif 0 in grid and not contains_collective(program):
                record = LaunchRecord()
            else:
                record = executables[0].launch(list(bound.values()), grid, chosen.deadline)
        except ExecutionError as ended:
            _show(ended.printed)
            raise
        _show(record.printed)
        return [_read(decl, bound[decl.name]) for decl in program.buffers if decl.is_host_output]


def _loaded(
    program: Program, route: Route, target: Target, options: EmitOptions, plan: SplitPlan | None
) -> dict[int, Executable]:
    """Code for the program, or for each segment of it that does something, ready to be launched."""
    executables: dict[int, Executable] = {}
    for artifact in emit_segments(program, route.backend, target, options):
        segment = artifact.metadata.get("segment")
        number = segment if isinstance(segment, int) else 0
        with in_segment(number, len(plan.segments)) if plan is not None else nullcontext():
            executables[number] = route.backend.load(artifact, route.device)
    return executables


def _as_bytes(program: Program, inputs: Sequence[Any]) -> dict[str, memoryview]:
    """The bytes of each input slot, by the buffer that it fills."""
    slots = [decl for decl in program.buffers if decl.is_host_input]
    if len(slots) != len(inputs):
        known = ", ".join(decl.name for decl in slots) or "none"
        wrong = codes.WRONG_SLOTS.at(expected=len(slots), found=len(inputs), known=known)
        raise ArgumentError(wrong)
    found: dict[str, memoryview] = {}
    for decl, given in zip(slots, inputs, strict=True):
        try:
            found[decl.name] = memoryview(given).cast("B")
        except (TypeError, ValueError) as problem:
            if is_from_handler(problem):
                raise
            what = f"{type(given).__name__} ({problem})"
            instead = "bytes, or a contiguous array"
            raise ArgumentError(
                codes.NOT_AN_ARRAY.at(name=decl.name, found=what, instead=instead)
            ) from problem
    return found


def _bound(
    program: Program,
    device: Device,
    given: Mapping[str, memoryview],
    config: DispatchConfig,
    stack: ExitStack,
) -> dict[str, Argument]:
    """Memory for every buffer that a launch binds, in the order of declaration."""
    bound: dict[str, Argument] = {}
    slots = (decl for decl in program.buffers if decl.name in given)
    filled = {decl.name: _count(decl, given[decl.name]) for decl in slots}
    sizes = check_sizes(program, config.sizes)
    default = max(filled.values(), default=0)
    if config.elements is not None:
        default = prod(grids.invocations(config.elements))
    for decl in program.buffers:
        if decl.is_on_chip:
            continue
        count = filled.get(decl.name)
        if count is None:
            count = sizes.get(decl.name, decl.count or default)
            if not count and decl.name not in sizes and config.elements is None:
                raise ArgumentError(codes.UNSIZED_OUTPUT.at(name=decl.name))
        if count >= TOO_LONG:
            raise ArgumentError(codes.LONG_ARRAY.at(name=decl.name, found=count))
        if decl.count and count != decl.count:
            wrong = codes.SHORT_BUFFER.at(name=decl.name, expected=decl.count, found=count)
            raise ArgumentError(wrong)
        memory = device.allocate(max(count * _size(decl), 1))
        stack.callback(memory.release)
        if decl.name in given:
            memory.write(given[decl.name])
        bound[decl.name] = Argument(memory, count)
    return bound


def _count(decl: BufferDecl, data: memoryview) -> int:
    count, rest = divmod(data.nbytes, _size(decl))
    if rest:
        found = f"{data.nbytes} bytes, which are no whole elements"
        instead = f"a multiple of {_size(decl)} bytes: as many as an element of {decl.element} has"
        wrong = codes.NOT_AN_ARRAY.at(name=decl.name, found=found, instead=instead)
        raise ArgumentError(wrong)
    return count


def _size(decl: BufferDecl) -> int:
    return decl.element.size_bytes or 1


def _indirect_grid(program: Program, bound: Mapping[str, Argument]) -> grids.Grid | None:
    """The grid that a program reads from one of its buffers, if it does."""
    first = grids.indirect_dispatch(program)
    if first is None:
        return None
    source, data = bound[first.count_buffer], bytearray(12)
    there = min(3, max(source.count - first.count_offset, 0)) * 4
    if there:
        source.memory.read(memoryview(data)[:there], first.count_offset * 4)
    x, y, z = struct.unpack("<3I", data)
    return grids.checked(program, (x, y, z))


def _read(decl: BufferDecl, argument: Argument) -> bytes:
    data = bytearray(argument.count * _size(decl))
    if data:
        argument.memory.read(memoryview(data))
    return bytes(data)


def _show(printed: Sequence[object]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in printed)
