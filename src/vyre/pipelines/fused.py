"""The kernel of a group of launches: one program, called like any other kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vyre.front.capture_guards import Outside
from vyre.front.kernels import KernelSource, Specialisation, Translated
from vyre.front.parameters import ArrayParameter, Mode, Parameter, ScalarParameter
from vyre.ir import BufferDecl, Program
from vyre.ir.buffer import SHAPE
from vyre.pipelines.steps import Buffer, Launch
from vyre.plan.arms import with_buffer_names
from vyre.plan.fuse import Fusion, fuse
from vyre.plan.register_handoff import LENGTH, with_registers
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel

_MOST_KERNELS = 64
"""Fused kernels that a pipeline remembers."""


class GroupSource(KernelSource):
    """The source of a kernel whose program is given, in place of a Python function."""

    @property
    def keyword_only(self) -> frozenset[str]:
        """No parameter: a group is called by position."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class FusedKernel:
    """Several launches as one kernel. Its buffers are numbered in the order of the group's."""

    kernel: Kernel[...]
    fusion: Fusion
    in_registers: frozenset[int]
    """Numbers of the scratch that has no memory."""

    def arguments(self, launches: Sequence[Launch]) -> list[Buffer | Any]:
        """What the kernel is called with: buffers, and numbers of the stages."""
        return arguments_of(self.kernel, launches, number_buffers(launches), {})


def number_buffers(launches: Sequence[Launch]) -> list[Buffer]:
    """The buffers of launches, each once, in the order of their first use."""
    found: dict[int, Buffer] = {}
    for launch in launches:
        for buffer, _ in launch.uses():
            found.setdefault(id(buffer), buffer)
    return list(found.values())


class FusedKernels:
    """The fused kernels of a pipeline, whatever the lengths of arrays are."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], FusedKernel] = {}

    def find(self, launches: Sequence[Launch], dead: frozenset[int]) -> FusedKernel:
        """The kernel for launches, made if there is none."""
        order = {id(buffer): number for number, buffer in enumerate(number_buffers(launches))}
        key = (
            dead,
            *((each.program, tuple(order[id(b)] for b, _ in each.uses())) for each in launches),
        )
        found = self._known.get(key)
        if found is None:
            while len(self._known) >= _MOST_KERNELS:
                self._known.pop(next(iter(self._known)), None)
            found = self._known[key] = fused_kernel(launches, dead)
        return found


def fused_kernel(launches: Sequence[Launch], dead: frozenset[int]) -> FusedKernel:
    """Fuse launches; `dead` are the numbers of fresh scratch that is not used afterwards."""
    buffers = number_buffers(launches)
    order = {id(buffer): number for number, buffer in enumerate(buffers)}
    fusion = joined(launches, 0, [order] * len(launches))
    names = [array_name(each) for each in sorted(dead)]
    program, promoted = with_registers(fusion.program, names)
    registers = frozenset(number for number in order.values() if array_name(number) in promoted)
    return FusedKernel(kernel_of(program, launches[0], buffers), fusion, registers)


def joined(
    launches: Sequence[Launch], position: int, orders: Sequence[Mapping[int, int]]
) -> Fusion:
    """Fuse launches; `orders` number the buffers of each, `position` is that of the first."""
    programs = [
        with_buffer_names(launch.program, _new_names(launch, position + at, orders[at]))
        for at, launch in enumerate(launches)
    ]
    names = [f"{position + at}.{launch.site.name}" for at, launch in enumerate(launches)]
    return fuse(programs, names, flat_grid=True)


def _new_names(launch: Launch, position: int, order: Mapping[int, int]) -> dict[str, str]:
    """Names for the buffers of a launch: shared ones by number, others with the stage's."""
    changes: dict[str, str] = {}
    for decl in launch.program.buffers:
        base = decl.name.removesuffix(SHAPE)
        given = launch.given.get(base)
        if isinstance(given, Buffer):
            changes[decl.name] = array_name(order[id(given)]) + decl.name[len(base) :]
        else:
            changes[decl.name] = f"s{position}_{decl.name}"
    return changes


def array_name(number: int) -> str:
    """The name of a buffer in the program of a group."""
    return f"b{number}"


def kernel_of(program: Program, like: Launch, buffers: Sequence[Buffer]) -> Kernel[...]:
    """The kernel of a group's program; arrays are named by their numbers."""
    parameters = {
        decl.name: _parameter(decl, buffers)
        for decl in program.buffers
        if decl.binding is not None and not decl.name.endswith(SHAPE)
    }
    first = like.kernel
    source = GroupSource(
        first.source.source,
        parameters,
        {},
        program.workgroup_size,
        program.fast_math,
        None,
        False,
        {Specialisation().key: Translated(program, Outside(()))},
    )
    return Kernel(source, first.__wrapped__)


def _parameter(decl: BufferDecl, buffers: Sequence[Buffer]) -> Parameter:
    if not decl.name.startswith("b") or decl.name.endswith(LENGTH):
        return ScalarParameter(decl.element)
    mode = Mode.OUT if decl.is_device_allocated else Mode.INOUT if decl.is_writable else Mode.IN
    return ArrayParameter(mode, decl.element, len(buffers[int(decl.name[1:])].shape))


def arguments_of(
    kernel: Kernel[...],
    launches: Sequence[Launch],
    buffers: Sequence[Buffer],
    numbers: Mapping[str, int],
) -> list[Buffer | Any]:
    """What a group's kernel is called with; `numbers` are those of its plan."""
    return [
        numbers[name] if name in numbers else _argument(name, launches, buffers)
        for name in kernel.source.parameters
    ]


def _argument(name: str, launches: Sequence[Launch], buffers: Sequence[Buffer]) -> Buffer | Any:
    if name.endswith(LENGTH):
        return buffers[int(name.removesuffix(LENGTH)[1:])].size
    if name.startswith("b"):
        return buffers[int(name[1:])]
    stage, own = name.split("_", 1)
    return launches[int(stage[1:])].given[own]


__all__ = [
    "FusedKernel",
    "FusedKernels",
    "arguments_of",
    "array_name",
    "fused_kernel",
    "joined",
    "kernel_of",
    "number_buffers",
]
