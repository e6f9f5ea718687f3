"""The reference as a backend: host memory, programs stored as they are, runs in place."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from vyre.backends.reference.compile import compiled
from vyre.backends.reference.execute import RunOptions, run
from vyre.backends.reference.memory import Cells
from vyre.diagnostics import OutOfMemoryError
from vyre.diagnostics.codes import execution as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import (
    Argument,
    Device,
    DeviceInfo,
    DeviceKind,
    DeviceMemory,
    EmitOptions,
    Executable,
    LaunchRecord,
)
from vyre.ir import BufferDecl, Program
from vyre.semantics import Array, storage_dtype
from vyre.signals import is_from_handler
from vyre.target import Feature, Target

NAME = "reference"
_TARGET = Target(NAME, frozenset(Feature), subgroup_width=32)


class HostMemory:
    """Memory of the reference: bytes of the host."""

    def __init__(self, data: Array) -> None:
        self.data = data

    @property
    def nbytes(self) -> int:
        """Its size."""
        return self.data.size

    def write(self, data: memoryview, offset: int = 0) -> None:
        """Copy host bytes into it."""
        given = np.frombuffer(data, np.uint8)
        self.data[offset : offset + given.size] = given

    def read(self, into: memoryview, offset: int = 0) -> None:
        """Copy it to host bytes."""
        target = np.frombuffer(into, np.uint8)
        target[:] = self.data[offset : offset + target.size]

    def zero(self) -> None:
        """Fill it with zeros."""
        self.data[:] = 0

    def copy_from(self, source: DeviceMemory, nbytes: int) -> None:
        """Copy from other memory of the reference."""
        view = source.host_view()
        assert view is not None
        self.data[:nbytes] = np.frombuffer(view, np.uint8)[:nbytes]

    def host_view(self) -> memoryview | None:
        """Its bytes in place."""
        return self.data.data

    def release(self) -> None:
        """Give it back."""
        self.data = np.zeros(0, np.uint8)


class ReferenceDevice:
    """The device that defines what programs mean."""

    info = DeviceInfo(NAME, NAME, DeviceKind.REFERENCE, "the definition of vyre, in numpy")

    def allocate(self, nbytes: int) -> DeviceMemory:
        """New memory, filled with zeros."""
        try:
            return HostMemory(np.zeros(nbytes, np.uint8))
        except (MemoryError, ValueError) as problem:
            if is_from_handler(problem):
                raise
            raise OutOfMemoryError(codes.NO_MEMORY.at(nbytes=nbytes)) from problem

    def adopt(self, array: memoryview) -> DeviceMemory | None:
        """Host bytes, used in place."""
        return HostMemory(np.frombuffer(array, np.uint8))

    def synchronize(self) -> None:
        """Nothing runs behind the caller's back."""


class ReferenceExecutable:
    """A program that is ready to run."""

    def __init__(self, program: Program, subgroup_width: int) -> None:
        self._program = program
        self._subgroup_width = subgroup_width
        compiled(program)

    def launch(
        self,
        arguments: Sequence[Argument],
        grid: tuple[int, int, int],
        deadline: float | None = None,
    ) -> LaunchRecord:
        """Run the grid on memory that is changed in place."""
        given = iter(arguments)
        cells = [
            Cells.zeros(decl, 0, decl.count) if decl.is_on_chip else _bound(decl, next(given))
            for decl in self._program.buffers
        ]
        options = RunOptions(self._subgroup_width, deadline=deadline)
        start = time.perf_counter_ns()
        world = run(self._program, cells, grid, options)
        took = time.perf_counter_ns() - start
        return LaunchRecord(took, tuple(str(line) for line in world.printed))


def _bound(decl: BufferDecl, argument: Argument) -> Cells:
    element = decl.element
    dtype = storage_dtype(element)
    view = argument.memory.host_view()
    assert view is not None
    nbytes = argument.count * element.lanes * dtype.itemsize
    data = np.frombuffer(view, np.uint8)[argument.offset : argument.offset + nbytes].view(dtype)
    shape = (argument.count, element.lanes) if element.is_vector else (argument.count,)
    return Cells(decl, data.reshape(shape), argument.count)


class ReferenceBackend:
    """The contract of backends, for the reference."""

    name = NAME

    def __init__(self) -> None:
        self._device = ReferenceDevice()

    def probe(self) -> Sequence[Device]:
        """It is always here."""
        return (self._device,)

    def target(self, device: Device) -> Target:
        """It can do everything."""
        return _TARGET

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """The program itself is the code."""
        metadata = {"subgroup_width": target.subgroup_width}
        return Artifact(NAME, program.to_wire(), metadata, {"ir": str(program)})

    def load(self, artifact: Artifact, device: Device) -> Executable:
        """Read the program back."""
        width = artifact.metadata.get("subgroup_width")
        program = Program.from_wire(artifact.payload)
        return ReferenceExecutable(program, width if isinstance(width, int) else 32)


def backend() -> ReferenceBackend:
    """The reference backend."""
    return ReferenceBackend()
