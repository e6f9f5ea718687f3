"""A shader on a device, ready to be launched."""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from vyre.backends.wgsl.allocation import Allocation
from vyre.backends.wgsl.atomics import STORAGE_LOCKS
from vyre.backends.wgsl.context import ENTRY_POINT
from vyre.backends.wgsl.device import WgpuDevice
from vyre.backends.wgsl.failures import translated
from vyre.backends.wgsl.recorder import Launch, Read
from vyre.backends.wgsl.shader import Bound, Choice, Shader, choose
from vyre.backends.wgsl.timing import Timing
from vyre.backends.wgsl.traps import LOOP_ENDED, RECORD_WORDS
from vyre.diagnostics import BackendError, DeadlineError, TrapError
from vyre.diagnostics.codes import execution as execution_codes
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.backend import Argument, LaunchRecord
from vyre.interruptible import call_interruptibly
from vyre.signals import is_from_handler

Grid = tuple[int, int, int]

_KEPT = 64
"""Bind groups and launch records that are kept: programs are launched again on the same memory."""
_PATIENCE = 0.5
"""Seconds after a deadline until the device is given up."""


class Entry(NamedTuple):
    """What is bound at one place."""

    buffer: Any
    offset: int
    size: int


class _Ready(NamedTuple):
    """Everything that a launch needs; the arguments are held so that their ids stay theirs."""

    arguments: tuple[Argument, ...]
    launch: Launch
    is_plain: bool
    """Whether there is nothing to do but to dispatch it."""
    copies: list[tuple[Any, Entry]]


Key = TypeVar("Key")
Kept = TypeVar("Kept")


def keep(known: OrderedDict[Key, Kept], key: Key, value: Kept) -> None:
    """Remember a value, and forget the oldest when there are many."""
    known[key] = value
    if len(known) > _KEPT:
        known.popitem(last=False)


class WgpuExecutable:
    """A loaded shader. Pipelines are made when first needed; bind groups are kept."""

    def __init__(self, shader: Shader, device: WgpuDevice) -> None:
        self.shader = shader
        self.device = device
        self.timing = Timing(device)
        self._pipelines: dict[bool, Any] = {}
        self._ready: OrderedDict[tuple[Any, ...], _Ready] = OrderedDict()
        self._groups: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._records: OrderedDict[bytes, Any] = OrderedDict()
        self._trap: Any = None
        self._most_workgroups = device.limit("max-compute-workgroups-per-dimension")

    def launch(
        self, arguments: Sequence[Argument], grid: Grid, deadline: float | None = None
    ) -> LaunchRecord:
        """Record the launch; wait only for traps and deadlines."""
        with self.device.lock, translated(self.device.info.id, "launching a program"):
            self._launch_and_look(self._find(arguments, grid), self.timing.is_due(), deadline)
            return self.timing.record

    def bind(
        self, arguments: Sequence[Argument], grid: Grid, deadline: float | None = None
    ) -> Callable[[], LaunchRecord]:
        """The same launch again and again."""
        device, timing = self.device, self.timing
        lock = device.lock
        with lock, translated(device.info.id, "launching a program"):
            ready = self._find(arguments, grid)
        if deadline is not None or not ready.is_plain:
            return partial(self.launch, tuple(arguments), grid, deadline)
        launch = ready.launch

        def again() -> LaunchRecord:
            with lock:
                if timing.is_due():
                    with translated(device.info.id, "launching a program"):
                        timing.measure(launch)
                else:
                    device.recorder.dispatch(launch)
                return timing.record

        return again

    def _find(self, arguments: Sequence[Argument], grid: Grid) -> _Ready:
        """What was made for the same arguments, or is made now."""
        # Arguments never change, so what was made for the same ones can be used again.
        key = (grid, *map(id, arguments))
        ready = self._ready.get(key)
        if ready is None:
            ready, has_copies = self._prepare(tuple(arguments), grid)
            if not has_copies:
                keep(self._ready, key, ready)
        else:
            self._ready.move_to_end(key)
        return ready

    def _launch_and_look(self, ready: _Ready, is_due: bool, deadline: float | None) -> None:
        """Launch it, with all that there may be to do around that."""
        recorder = self.device.recorder
        if self.shader.tags:
            recorder.clear(self._trap)
        if is_due:
            self.timing.measure(ready.launch)
        else:
            recorder.dispatch(ready.launch)
        for temporary, original in ready.copies:
            recorder.copy(temporary, 0, original.buffer, original.offset, original.size)
        if deadline is not None and not recorder.wait(deadline):
            # A launch may be short, and late only because others came before it.
            if not recorder.wait(_PATIENCE):
                self.device.abandon()
            raise DeadlineError(execution_codes.DEADLINE.at(seconds=f"{deadline:g}"))
        if self.shader.tags:
            self._raise_trap()

    def _prepare(self, arguments: tuple[Argument, ...], grid: Grid) -> tuple[_Ready, bool]:
        """What a launch needs, and whether it is bound to copies, which are of this moment."""
        choice = self._choose([argument.count for argument in arguments], grid)
        pipeline = self._pipeline(choice.is_general)
        bound = [self._entry(arguments[b.argument], b) for b in self.shader.bindings]
        wanted = bound
        bound, copies = self._separated(wanted)
        has_copies = bound != wanted
        entries = [*bound, *self._own_entries(choice.record)]
        group = self._group(pipeline, entries, keep_it=not has_copies)
        buffers = [entry.buffer for entry in bound]
        launch = Launch(pipeline, group, buffers, choice.grid)
        is_plain = not (has_copies or self.shader.tags)
        return _Ready(arguments, launch, is_plain, copies), has_copies

    def _choose(self, counts: list[int], grid: Grid) -> Choice:
        try:
            return choose(self.shader, counts, grid, self._most_workgroups)
        except ValueError as problem:
            if is_from_handler(problem):
                raise
            raise BackendError(
                codes.TOO_MANY_WORKGROUPS.at(
                    found=" x ".join(map(str, grid)), device=self.device.info.id, limit=2**32 - 1
                )
            ) from problem

    def _pipeline(self, general: bool) -> Any:
        pipeline = self._pipelines.get(general)
        if pipeline is None:
            text = self.shader.general if general else self.shader.text
            # Naga knows the functions of this extension, but not yet the directive.
            text = text.replace("enable subgroups;\n", "")
            handle = self.device.handle

            def make() -> Any:
                module = handle.create_shader_module(code=text)
                return handle.create_compute_pipeline(
                    layout="auto", compute={"module": module, "entry_point": ENTRY_POINT}
                )

            # Drivers may take seconds over a shader.
            pipeline = self._pipelines[general] = call_interruptibly(make)
        return pipeline

    def _entry(self, argument: Argument, bound: Bound) -> Entry:
        """The buffer, offset and size that are bound for an argument."""
        memory = argument.memory
        if not isinstance(memory, Allocation) or memory.device is not self.device:
            raise BackendError(codes.NOT_OURS.at(device=self.device.info.id))
        size = min(bound.size(argument.count), memory.capacity - argument.offset)
        if size > self.device.binding_limit:
            raise BackendError(
                codes.BUFFER_TOO_LARGE.at(
                    what=f"the buffer {bound.name!r}",
                    found=size,
                    device=self.device.info.id,
                    limit=self.device.binding_limit,
                )
            )
        return Entry(memory.buffer, argument.offset, size)

    def _separated(self, entries: list[Entry]) -> tuple[list[Entry], list[tuple[Any, Entry]]]:
        """Entries that WebGPU accepts, and what has to be copied back after the launch.

        WebGPU binds at certain offsets only, and no buffer for reading and for writing at once.
        Where that is asked for, the program works on a copy.
        """
        written = {
            e.buffer
            for e, b in zip(entries, self.shader.bindings, strict=True)
            if b.access == "read_write"
        }
        accepted: list[Entry] = []
        copies: list[tuple[Any, Entry]] = []
        for entry, bound in zip(entries, self.shader.bindings, strict=True):
            writes = bound.access == "read_write"
            if entry.offset % self.device.offset_alignment == 0 and (
                writes or entry.buffer not in written
            ):
                accepted.append(entry)
                continue
            temporary = Allocation(self.device, entry.size).buffer
            self.device.recorder.copy(entry.buffer, entry.offset, temporary, 0, entry.size)
            accepted.append(Entry(temporary, 0, entry.size))
            if writes:
                copies.append((temporary, entry))
        return accepted, copies

    def _own_entries(self, values: list[int]) -> list[Entry]:
        """The launch record, the record of traps, and the locks."""
        entries: list[Entry] = []
        if values:
            data = struct.pack(f"<{len(values)}I", *values)
            record = self._record(data)
            entries.append(Entry(record, 0, record.size))
        if self.shader.tags:
            if self._trap is None:
                self._trap = Allocation(self.device, 4 * RECORD_WORDS).buffer
            entries.append(Entry(self._trap, 0, 4 * RECORD_WORDS))
        if self.shader.locked:
            entries.append(Entry(self.device.locks, 0, 4 * STORAGE_LOCKS))
        return entries

    def _record(self, data: bytes) -> Any:
        """A uniform buffer with this content."""
        import wgpu

        record = self._records.get(data)
        if record is None:
            padded = data + bytes(-len(data) % 16)
            record = self.device.handle.create_buffer_with_data(
                data=padded, usage=wgpu.BufferUsage.UNIFORM
            )
            keep(self._records, data, record)
        else:
            self._records.move_to_end(data)
        return record

    def _group(self, pipeline: Any, entries: list[Entry], *, keep_it: bool) -> Any:
        key = (pipeline, *entries)
        group = self._groups.get(key)
        if group is None:
            group = self.device.handle.create_bind_group(
                layout=pipeline.get_bind_group_layout(0),
                entries=[
                    {"binding": k, "resource": entry._asdict()} for k, entry in enumerate(entries)
                ],
            )
            if keep_it:
                keep(self._groups, key, group)
        else:
            self._groups.move_to_end(key)
        return group

    def _raise_trap(self) -> None:
        data = bytearray(4 * RECORD_WORDS)
        self.device.recorder.read([Read(self._trap, 0, memoryview(data))])
        number, x, y, z = struct.unpack("<4I", data)
        if number:
            tag = self.shader.tags[number - 1]
            if tag == LOOP_ENDED:
                raise BackendError(codes.LOOP_ENDED.at(device=self.device.info.id, at=(x, y, z)))
            raise TrapError(execution_codes.TRAP.at(invocation=(x, y, z), tag=tag), tag, (x, y, z))
