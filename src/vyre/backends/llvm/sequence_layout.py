"""A sequence in the native layout: what native/sequence.ll reads.

Each step becomes one `%step`, at the same position. Clears and copies of much memory are launches
of a kernel of the runtime, so that all threads share them.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import Final, cast

from vyre.backends.llvm.abi import MEMORY_BLOCK_BYTES
from vyre.backends.llvm.device import HostMemory
from vyre.backends.llvm.executable import CpuExecutable, places_of
from vyre.backends.llvm.heuristics import SHORT_LAUNCH_NS
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import Bound, BufferPlace, Grid, NativeKernel
from vyre.backends.llvm.pool import Pool
from vyre.driver.backend import Argument
from vyre.driver.sequence import (
    Add,
    Below,
    Branch,
    Clear,
    Copy,
    Jump,
    Launch,
    Load,
    Parameter,
    Place,
    Put,
    Sequence,
    Step,
    Stop,
    Store,
)

_LAUNCH, _CLEAR, _COPY, _ADD, _JUMP, _EQUAL, _DIFFERENT, _BELOW, _BELOW_UNSIGNED, _STOP = range(10)


class StepStruct(ctypes.Structure):
    """The `%step` of native/sequence.ll."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("to", ctypes.c_int32),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("value", ctypes.c_int64),
        ("spent_ns", ctypes.c_int64),
        ("launches", ctypes.c_int64),
        ("unused", ctypes.c_int64),
    )


class PatchStruct(ctypes.Structure):
    """The `%patch` of native/sequence.ll."""

    _fields_ = (
        ("parameter", ctypes.c_int64),
        ("where", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    )


class SequenceStruct(ctypes.Structure):
    """The `%sequence` of native/sequence.ll."""

    _fields_ = (
        ("steps", ctypes.c_void_p),
        ("step_count", ctypes.c_int32),
        ("parameter_count", ctypes.c_int32),
        ("slots", ctypes.c_void_p),
        ("least_bytes", ctypes.c_void_p),
        ("patches", ctypes.c_void_p),
        ("patch_count", ctypes.c_int64),
        ("scratch_bytes", ctypes.c_int64),
        ("stack_bytes", ctypes.c_int64),
        ("is_short", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("position", ctypes.c_int32),
        ("reason", ctypes.c_int32),
    )


_TO: Final = StepStruct.first.offset
_FROM: Final = StepStruct.second.offset


class Layout:
    """Steps in native memory, with what they point to."""

    def __init__(self, sequence: Sequence, pool: Pool) -> None:
        self._pool = pool
        self.steps = (StepStruct * len(sequence.steps))()
        self.patches: list[PatchStruct] = []
        self.bounds: list[Bound] = []
        constants = [step.value for step in sequence.steps if isinstance(step, Put)]
        constants += [s.limit for s in sequence.steps if isinstance(s, Below) and not s.is_counter]
        self._constants = sequence.counters
        """The next of those, which follow the counters."""
        self.counters = (ctypes.c_int64 * (sequence.counters + len(constants)))()
        self.estimate_ns = 0
        self.group_ns = 0
        """How long a workgroup takes in all launches with the grid of the run."""
        self.open_bounds: list[Bound] = []
        """Those launches."""
        self.group_clears: list[tuple[Bound, int]] = []
        """Clears of as many bytes for each of its workgroups."""
        for position, step in enumerate(sequence.steps):
            self._lay(step, self.steps[position])

    def _lay(self, step: Step, native: StepStruct) -> None:
        match step:
            case Launch():
                self._launch(native, _bound(step, self.patches), step.grid)
            case Clear():
                self._clear(native, step)
            case Copy(source, target, nbytes):
                self._move(native, _COPY, (target, source), nbytes)
            case Put(counter, value):
                native.kind, native.value = _COPY, 8
                native.first, native.second = self._counter(counter), self._constant(value)
            case Load(counter, place):
                native.kind, native.value, native.first = _COPY, 8, self._counter(counter)
                native.second = self._address(place, native, _FROM)
            case Store(counter, place, nbytes):
                native.kind, native.value, native.second = _COPY, nbytes, self._counter(counter)
                native.first = self._address(place, native, _TO)
            case Add(counter, value):
                native.kind, native.value, native.first = _ADD, value, self._counter(counter)
            case Jump(to):
                native.kind, native.to = _JUMP, to
            case Branch(place, value, to, equal):
                native.kind, native.to, native.value = _EQUAL if equal else _DIFFERENT, to, value
                native.first = self._address(place, native, _TO)
            case Below():
                native.kind, native.to = _BELOW if step.signed else _BELOW_UNSIGNED, step.to
                native.first = self._counter(step.counter)
                other = self._counter(step.limit) if step.is_counter else self._constant(step.limit)
                native.second = other
            case Stop(reason):
                native.kind, native.value = _STOP, reason

    def _launch(self, native: StepStruct, bound: Bound, grid: Grid | None) -> None:
        native.kind = _LAUNCH
        native.first = ctypes.addressof(bound)
        self.bounds.append(bound)
        is_known = bound.group_cost_ns and not bound.flags & 1
        cost = bound.group_cost_ns if is_known else SHORT_LAUNCH_NS + 1
        if grid is None:
            self.open_bounds.append(bound)
            self.group_ns += cost
        else:
            self.estimate_ns += prod(grid) * cost

    def _move(self, native: StepStruct, kind: int, places: tuple[Place, ...], nbytes: int) -> None:
        if nbytes <= MEMORY_BLOCK_BYTES:
            native.kind, native.value = kind, nbytes
            native.first = self._address(places[0], native, _TO)
            if len(places) > 1:
                native.second = self._address(places[1], native, _FROM)
            self.estimate_ns += nbytes * SHORT_LAUNCH_NS // MEMORY_BLOCK_BYTES
            return
        groups = -(-nbytes // MEMORY_BLOCK_BYTES)
        self._launch(native, self._moving(kind, places, nbytes), (groups, 1, 1))

    def _moving(self, kind: int, places: tuple[Place, ...], nbytes: int) -> Bound:
        """The launch of a kernel that clears or copies memory."""
        kernel = self._pool.clear_blocks if kind == _CLEAR else self._pool.copy_blocks
        groups = -(-nbytes // MEMORY_BLOCK_BYTES)
        bound = Bound(kernel=kernel, grid=(groups, 1, 1), group_cost_ns=SHORT_LAUNCH_NS)
        bound.array = (BufferPlace * len(places))()
        for number, place in enumerate(places):
            bound.array[number].count = nbytes
            bound.array[number].data = self._address(place, bound.array[number], 0)
        bound.buffers = ctypes.addressof(bound.array)
        self.bounds.append(bound)
        return bound

    def _clear(self, native: StepStruct, step: Clear) -> None:
        if not step.is_per_workgroup:
            self._move(native, _CLEAR, (step.place,), step.nbytes)
            return
        bound = self._moving(_CLEAR, (step.place,), 0)
        native.kind, native.first = _LAUNCH, ctypes.addressof(bound)
        self.group_clears.append((bound, step.nbytes))
        self.group_ns += step.nbytes * SHORT_LAUNCH_NS // MEMORY_BLOCK_BYTES

    def _counter(self, counter: int) -> int:
        return ctypes.addressof(self.counters) + 8 * counter

    def _constant(self, value: int) -> int:
        number = self._constants
        self._constants += 1
        self.counters[number] = value if value < 1 << 63 else value - (1 << 64)
        return self._counter(number)

    def _address(self, place: Place, owner: ctypes.Structure, offset: int) -> int | None:
        """Where a place is; for a parameter, each run writes it to this member of the owner."""
        if isinstance(place.memory, Parameter):
            where = ctypes.addressof(owner) + offset
            self.patches.append(PatchStruct(place.memory.index, where, place.offset))
            return None
        assert isinstance(place.memory, HostMemory)
        return place.memory.address + place.offset


def _bound(step: Launch, patches: list[PatchStruct]) -> Bound:
    kernel = _kernel(step)
    fixed = [each if isinstance(each, Argument) else None for each in step.arguments]
    places = [(0, 0) if each is None else places_of([each])[0] for each in fixed]
    proving = [fixed[place] for place in kernel.info.proving_places]
    sure = all(
        each is None or (isinstance(each.memory, HostMemory) and each.memory.is_private)
        for each in proving
    )
    bound = kernel.descriptor(places, step.grid or (1, 1, 1), 0, 0, sure=sure)
    for number, each in enumerate(step.arguments):
        if isinstance(each, Parameter):
            where = ctypes.addressof(bound.array) + number * ctypes.sizeof(BufferPlace)
            patches.append(PatchStruct(each.index, where, -1))
    return bound


def _kernel(step: Launch) -> NativeKernel:
    return cast("CpuExecutable", step.executable).kernel


def info_of(step: Launch) -> KernelInfo:
    """What is known of the kernel of a launch."""
    return _kernel(step).info


__all__ = ["Layout", "PatchStruct", "SequenceStruct", "info_of"]
