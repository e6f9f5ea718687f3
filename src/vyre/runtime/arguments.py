"""Binding: what the caller gave, turned into device memory for every buffer of a program.

Host arrays are used in place where the device can do that, and uploaded otherwise. Arrays that
live on the device are bound as they are. What the program changes in a host array goes to a copy
that becomes the output, unless the caller asked for the change to happen in place. What begins as
zeros does so in an array of the caller's, too: of that, only place and length count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Argument, Device, DeviceMemory
from vyre.driver.host_memory import share_a_file
from vyre.driver.lengths import TOO_LONG, bad_size
from vyre.ir import BufferDecl, Program
from vyre.record import dataclass
from vyre.runtime.clearing import ALL, NO_OUTS, Out, Outs, clear
from vyre.runtime.copies import bytes_of, read_back, upload
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import (
    element_count,
    is_plain,
    overlap,
    typed_array,
    whole_elements,
    zero_output,
)
from vyre.runtime.host_types import is_held_by, numpy_type, wrong_type
from vyre.runtime.host_views import HostArray
from vyre.runtime.memory_pool import Held, MemoryPool, pool_of

Given = Mapping[str, object] | Sequence[object]


@dataclass(slots=True)
class Binding:
    """Everything bound for one dispatch, and what to do with it afterwards."""

    arguments: dict[str, Argument] = field(default_factory=dict[str, Argument])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    outputs: dict[str, object] = field(default_factory=dict[str, object])
    """Host arrays to fill, or device arrays, by buffer."""
    owned: list[DeviceMemory] = field(default_factory=list[DeviceMemory])
    """Memory to give back to the pool."""
    adopted: list[DeviceMemory] = field(default_factory=list[DeviceMemory])
    pending: list[tuple[HostArray, DeviceMemory]] = field(
        default_factory=list[tuple[HostArray, DeviceMemory]]
    )
    """Host arrays to read back into."""
    stand_ins: list[tuple[HostArray, HostArray]] = field(
        default_factory=list[tuple[HostArray, HostArray]]
    )
    """Arrays of the caller that are not contiguous, with the copies that are written for them."""
    hosts: dict[str, HostArray] = field(default_factory=dict[str, HostArray])
    """Host arrays that were bound, for a reproducer."""
    views: dict[str, HostArray] = field(default_factory=dict[str, HostArray])
    """The same as the caller has them: what is not contiguous was bound as a copy."""
    held: list[Held] = field(default_factory=list[Held])
    """Memory of device arrays, which is theirs until the launch has ended."""
    to_clear: list[str] = field(default_factory=list[str])
    """Arrays that begin as zeros and are used in place."""
    touched: int = 0
    handovers: dict[int, list[DeviceMemory]] = field(default_factory=dict[int, list[DeviceMemory]])
    """Scratch memory that is cleared before a segment because another buffer used it before."""


def by_name(program: Program, given: Given) -> dict[str, object]:
    """What the caller gave, by the names of the buffers."""
    inputs = program.memo("runtime.inputs", _input_names)
    if isinstance(given, Mapping):
        return dict(given)
    values = list(given)
    if len(values) != len(inputs):
        raise ArgumentError(
            codes.WRONG_SLOTS.at(
                expected=len(inputs), found=len(values), known=", ".join(inputs) or "none"
            )
        )
    return dict(zip(inputs, values, strict=True))


def check_names(program: Program, given: Mapping[str, object]) -> None:
    """Refuse what belongs to no buffer and what is missing, all of it at once."""
    inputs = program.memo("runtime.inputs", _input_names)
    visible = program.memo("runtime.visible", _visible_names)
    problems = [
        codes.UNKNOWN_INPUT.at(name=name, known=", ".join(inputs) or "none")
        for name in given
        if name not in visible
    ]
    for name in inputs:
        if name not in given:
            decl = program.buffer(name)
            assert decl is not None
            dtype = numpy_type(decl.element).name
            problems.append(codes.MISSING_INPUT.at(name=name, dtype=dtype))
    if problems:
        raise ArgumentError(problems)


class Binder:
    """Binds one dispatch of a program on a device."""

    def __init__(
        self, program: Program, device: Device, *, in_place: bool, outs: Outs = NO_OUTS
    ) -> None:
        self.program = program
        self.device = device
        self.pool: MemoryPool = pool_of(device)
        self.in_place = in_place
        self.outs = dict(outs)
        self.binding = Binding()

    def bind_given(self, given: Mapping[str, object]) -> None:
        """Bind every array the caller gave."""
        for decl in self.program.buffers:
            if decl.name in given:
                value = given[decl.name]
                if isinstance(value, DeviceArray):
                    self._bind_device_array(decl, value)
                else:
                    self._bind_host(decl, value)
        written = [name for name in given if self._is_written_in_place(name)]
        refuse_aliases(given, self.binding.views, written)

    def bind_scratch(self, program: Program, segments: Mapping[int, int]) -> None:
        """Bind the scratch buffers of what runs; those with disjoint lives share memory.

        `segments` has, by epoch, the one before which memory that changes hands is cleared.
        """
        from vyre.plan import ScratchReusePlan

        plan = ScratchReusePlan.build(program)
        for pool in plan.pools if segments else ():
            memory = self._take(pool.buffers[0], pool.nbytes, zeroed=True)
            for position, name in enumerate(pool.buffers):
                decl = program.buffer(name)
                assert decl is not None
                self._put(decl, memory, decl.count)
                if position:
                    first = segments[plan.lives[name].first]
                    self.binding.handovers.setdefault(first, []).append(memory)
        for decl in program.buffers:
            if decl.is_scratch and decl.name not in self.binding.arguments:
                self._bind_zeros(decl, decl.count)

    def bind_rest(self, sizes: Mapping[str, int], default: int | None) -> None:
        """Bind outputs, which begin as zeros; what is bound must have the size that is said."""
        for name, count in self.binding.counts.items():
            if sizes.get(name, count) != count:
                problem = f"whose array has {count} elements"
                raise bad_size(name, sizes[name], problem, "leave it out, or say the same")
        for decl in self.program.buffers:
            if decl.is_on_chip or decl.is_scratch or decl.name in self.binding.arguments:
                continue
            count = sizes.get(decl.name, decl.count or default)
            if count is None:
                raise ArgumentError(codes.UNSIZED_OUTPUT.at(name=decl.name))
            self._check_count(decl, count)
            self._bind_zeros(decl, count)

    def clear(self) -> None:
        """Fill with zeros what begins so, when nothing is left that could be refused."""
        for name in self.binding.to_clear:
            out = self.outs[name]
            clear(out.array, out.cuts)

    def _bind_zeros(self, decl: BufferDecl, count: int) -> None:
        nbytes = count * (decl.element.size_bytes or 0)
        if decl.is_host_output and not decl.is_scratch:
            host = zero_output(decl, count)
            view = self.device.adopt(bytes_of(host)) if host.nbytes else None
            self.binding.outputs[decl.name] = host
            if view is not None:
                self.binding.adopted.append(view)
                self._put(decl, view, count)
                return
            memory = self._take(decl.name, nbytes, zeroed=True)
            self.binding.pending.append((host, memory))
            self._put(decl, memory, count)
            return
        self._put(decl, self._take(decl.name, nbytes, zeroed=True), count)

    def _bind_device_array(self, decl: BufferDecl, value: DeviceArray) -> None:
        held = value.hold()
        if value.device is not self.device:
            raise ArgumentError(
                codes.WRONG_DEVICE.at(
                    name=decl.name, found=value.device.info.id, expected=self.device.info.id
                )
            )
        if not is_held_by(decl.element, value.dtype):
            written, where = decl.is_host_output, value.device.info.id
            raise wrong_type(decl.name, decl.element, value.dtype, written=written, device=where)
        count = whole_elements(value.size, decl)
        self._check_count(decl, count)
        self.binding.held.append(held)
        self._put(decl, held.memory, count)
        if decl.is_host_output:
            self.binding.outputs[decl.name] = value
        if self._out(decl, value) is not None:
            self.binding.to_clear.append(decl.name)

    def _bind_host(self, decl: BufferDecl, value: object) -> None:
        is_output = decl.is_host_output
        view = typed_array(value, decl, written=is_output and self.in_place)
        count = element_count(view, decl)
        self._check_count(decl, count)
        out = self._out(decl, view)
        host = view
        if out is not None and not (self.in_place and is_plain(view)):
            host = np.zeros(view.shape, view.dtype)
        elif not is_plain(view):
            host = view.copy(order="C")
        self.binding.views[decl.name], self.binding.hosts[decl.name] = view, host
        if is_output:
            host = self._writable(value, view, host)
            self.binding.outputs[decl.name] = host
        adopted = self.device.adopt(bytes_of(host)) if host.nbytes else None
        if adopted is not None:
            self.binding.adopted.append(adopted)
            self._put(decl, adopted, count)
            if out is not None and host is view:
                self.binding.to_clear.append(decl.name)
            return
        memory = self._take(decl.name, host.nbytes, zeroed=out is not None and bool(out.cuts))
        if out is None:
            upload(memory, host)
        self._put(decl, memory, count)
        if is_output:
            self.binding.pending.append((host, memory))

    def _out(self, decl: BufferDecl, array: HostArray | DeviceArray) -> Out | None:
        """What of an array begins as zeros: all of it, if the host does not fill the buffer."""
        if decl.is_device_allocated and decl.name not in self.outs:
            self.outs[decl.name] = Out(array, ALL)
        return self.outs.get(decl.name)

    def _writable(self, value: object, view: HostArray, host: HostArray) -> HostArray:
        """The array that receives what the program writes: a copy, or the caller's own."""
        if self.in_place:
            if host is not view:
                self.binding.stand_ins.append((view, host))
            return host
        # An array made from another object may still share its memory.
        own = cast("Any", value)
        shared = not isinstance(own, np.ndarray) or np.may_share_memory(
            host, cast("HostArray", own)
        )
        return host.copy() if shared else host

    def _check_count(self, decl: BufferDecl, count: int) -> None:
        if decl.count and count != decl.count:
            raise ArgumentError(
                codes.SHORT_BUFFER.at(name=decl.name, expected=decl.count, found=count)
            )
        if count >= TOO_LONG:
            raise ArgumentError(codes.LONG_ARRAY.at(name=decl.name, found=count))

    def _take(self, name: str, nbytes: int, *, zeroed: bool) -> DeviceMemory:
        memory = self.pool.take(max(nbytes, 1), zeroed=zeroed, name=name)
        self.binding.owned.append(memory)
        return memory

    def _put(self, decl: BufferDecl, memory: DeviceMemory, count: int) -> None:
        self.binding.arguments[decl.name] = Argument(memory, count)
        self.binding.counts[decl.name] = count
        self.binding.touched += count * (decl.element.size_bytes or 0)

    def _is_written_in_place(self, name: str) -> bool:
        # What the host gets is among the outputs when it is bound.
        own = self.binding.outputs.get(name)
        return own is not None and (self.in_place or isinstance(own, DeviceArray))


def refuse_aliases(
    given: Mapping[str, object], views: Mapping[str, HostArray], written: Iterable[str]
) -> None:
    """Memory under two names is fine as long as neither is written."""
    for name in written:
        for other in given:
            if other != name and _share_memory(name, other, given, views):
                raise ArgumentError(codes.ALIASED.at(first=name, second=other, written=name))


def _share_memory(
    one: str, two: str, given: Mapping[str, object], views: Mapping[str, HostArray]
) -> bool:
    """Whether two arrays have memory in common, the first of which is written."""
    if given[one] is given[two]:
        return True
    if one not in views or two not in views:
        return False
    return overlap(views[one], views[two]) or share_a_file(views[one], views[two])


def finish(binding: Binding, pool: MemoryPool) -> None:
    """Read back what the host wants, and give memory back."""
    read_back(pool.device, binding.pending)
    for own, copy in binding.stand_ins:
        own[...] = copy.reshape(own.shape)
    give_back(binding, pool)


def give_back(binding: Binding, pool: MemoryPool) -> None:
    """Give all memory of a dispatch back."""
    for memory in binding.owned:
        pool.give(memory)
    for memory in binding.adopted:
        memory.release()
    binding.owned.clear()
    binding.adopted.clear()
    binding.held.clear()


def _input_names(program: Program) -> tuple[str, ...]:
    return tuple(decl.name for decl in program.buffers if decl.is_host_input)


def _visible_names(program: Program) -> frozenset[str]:
    return frozenset(
        decl.name for decl in program.buffers if decl.is_host_input or decl.is_host_output
    )
