"""The contract of a backend: five members, and what they speak of.

A backend is a compiler half (`target`, `emit`) and a device half (`probe`, `load`). The rest of
vyre knows backends only through this file. Third parties register theirs under the entry point
group `vyre.backends`: an entry point names a function without arguments that gives a `Backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from vyre.driver.artifact import Artifact
from vyre.ir import Program
from vyre.record import dataclass
from vyre.target import Target


class DeviceKind(StrEnum):
    """What sort of thing executes programs; routing prefers the earlier ones."""

    GPU = "gpu"
    CPU = "cpu"
    SOFTWARE_GPU = "software_gpu"
    """A GPU's interface on a CPU: for tests, never chosen unless asked for."""
    REFERENCE = "reference"
    """The definition of what programs mean; never chosen unless asked for."""
    UNKNOWN = "unknown"
    """Of a backend that cannot be used, so that it cannot tell."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What is known of a device before it is used."""

    id: str
    """What `device=` takes: `cpu`, `reference`, `wgpu:0`."""
    backend: str
    kind: DeviceKind
    name: str
    aliases: tuple[str, ...] = ()
    """Other names for it, such as `wgpu:llvmpipe`."""
    available: bool = True
    reason: str = ""
    """Why it is not available."""
    remedy: str = ""
    """The command or step that makes it available."""

    @property
    def target(self) -> Target:
        """Its features, limits and subgroup width; this opens the device."""
        # Routing is built on this module.
        from vyre.driver import routing

        route = routing.choose(self.id)
        return route.backend.target(route.device)


@runtime_checkable
class DeviceMemory(Protocol):
    """A stretch of memory of one device."""

    @property
    def nbytes(self) -> int:
        """Its size."""
        ...

    def write(self, data: memoryview, offset: int = 0) -> None:
        """Copy host bytes into it."""
        ...

    def read(self, into: memoryview, offset: int = 0) -> None:
        """Copy it to host bytes; waits for the work that writes it."""
        ...

    def zero(self) -> None:
        """Fill it with zeros."""
        ...

    def copy_from(self, source: DeviceMemory, nbytes: int) -> None:
        """Copy from other memory of the same device."""
        ...

    def host_view(self) -> memoryview | None:
        """Its bytes in place, where the host can reach them."""
        ...

    def release(self) -> None:
        """Give it back; it must not be used any more."""
        ...


@runtime_checkable
class Refusing(Protocol):
    """A device that may have a reason of its own for not being available."""

    def refuse(self) -> None:
        """Raise an error that says why, if it has one."""
        ...


@runtime_checkable
class Device(Protocol):
    """Something that executes programs. Opening it may wait until it is first used."""

    @property
    def info(self) -> DeviceInfo:
        """What it is."""
        ...

    def allocate(self, nbytes: int) -> DeviceMemory:
        """New memory, filled with zeros; an `OutOfMemoryError` if there is none."""
        ...

    def adopt(self, array: memoryview) -> DeviceMemory | None:
        """Host bytes used in place as device memory, or None where the device cannot."""
        ...

    def synchronize(self) -> None:
        """Wait for all launched work."""
        ...


@runtime_checkable
class BoundedMemory(Device, Protocol):
    """A device whose pieces of memory have a largest size."""

    def largest_allocation(self) -> int:
        """Bytes of the largest piece."""
        ...


@runtime_checkable
class BatchReading(Device, Protocol):
    """A device on which waiting costs: it reads several pieces of memory back with one wait."""

    def read_many(self, reads: Sequence[tuple[DeviceMemory, memoryview]]) -> None:
        """Copy each piece, from its start, to host bytes; waits for the work that writes them."""
        ...


@dataclass(frozen=True, slots=True)
class Argument:
    """What is bound to one buffer for a launch."""

    memory: DeviceMemory
    count: int
    """Elements."""
    offset: int = 0
    """Bytes from the start of the memory."""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """What a launch has to say afterwards."""

    kernel_ns: int | None = None
    """Time of the kernel alone, where the device can tell."""
    printed: tuple[str, ...] = ()


@runtime_checkable
class Executable(Protocol):
    """A program that is loaded on a device.

    `arguments` hold one entry for each buffer that is device memory (host-visible or scratch, not
    workgroup memory and not private arrays), in the order of declaration. The driver has
    allocated and zeroed what semantics say begins as zeros.
    """

    def launch(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> LaunchRecord:
        """Run the grid. `deadline` is in seconds from now; traps and timeouts raise."""
        ...


@runtime_checkable
class Bindable(Executable, Protocol):
    """A program whose launches can be prepared, on devices where that makes them cheaper."""

    def bind(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> Callable[[], LaunchRecord]:
        """The same launch again and again; its caller keeps the memory where it is."""
        ...


@runtime_checkable
class TakesArrays(Executable, Protocol):
    """A program that works on arrays of the host where they lie."""

    def on_arrays(
        self,
        grid: tuple[int, int, int],
        deadline: float | None = None,
        strided: Sequence[int] = (),
    ) -> Callable[..., LaunchRecord | None]:
        """A launch to be called with an array per buffer, in their order; a grid may follow.

        For the buffers `strided` these are views with strides: what is bound is the memory from the
        lowest of their elements to the highest.

        After the grid may follow what is filled with zeros before: bytes that hold runs, each of
        five 64-bit numbers, which are the buffer, the first byte, the bytes, how often, and the
        distance between. Gives None, without having cleared anything or run, when arrays cannot be
        used as they are: of another type, not contiguous, not writable where they are written, or
        sharing memory that is written.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """What a caller may ask of code generation; part of the cache key."""

    tier: str = "auto"
    """`quick` compiles fast, `full` runs fast, `brisk` and `short` lie between, `hot` takes all the
    time that helps; `auto` is the quicker the bigger a program is, until it is known to be hot."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])

    def key(self) -> str:
        """The options as one line, another one for every other choice."""
        return f"{self.tier!r};{sorted(self.values.items())!r}"


@runtime_checkable
class Backend(Protocol):
    """A way to run programs."""

    @property
    def name(self) -> str:
        """Its name, the first part of its devices' ids."""
        ...

    def probe(self) -> Sequence[Device]:
        """The devices that are here, and unavailable ones with the reason; quick, never raises."""
        ...

    def target(self, device: Device) -> Target:
        """What a device can do."""
        ...

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """The program as code for the target; needs no device."""
        ...

    def load(self, artifact: Artifact, device: Device) -> Executable:
        """Make code executable on a device."""
        ...


@runtime_checkable
class SlowToEmit(Backend, Protocol):
    """A backend that may take a second over a program, and whose `emit` needs nothing but that.

    Programs in use are compiled anew in a process of its own, by a backend of the same name.
    """

    @property
    def emits_slowly(self) -> bool:
        """Whether it does."""
        ...
