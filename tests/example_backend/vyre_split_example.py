"""A third party's backend, small: the reference, without barriers over the whole grid.

It shows the five members of the contract, and it makes the driver split programs, so that a split
program can be compared with the unsplit one on the very same arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vyre.backends.reference import backend as reference_backend
from vyre.driver.artifact import Artifact
from vyre.driver.backend import (
    Device,
    DeviceInfo,
    DeviceKind,
    DeviceMemory,
    EmitOptions,
    Executable,
)
from vyre.ir import Program
from vyre.target import Feature, Target


class SplitDevice:
    """The reference's memory under another name."""

    info = DeviceInfo("split", "split", DeviceKind.REFERENCE, "the reference, segment by segment")

    def __init__(self, inner: Device) -> None:
        self.inner = inner

    def allocate(self, nbytes: int) -> DeviceMemory:
        """New memory, filled with zeros."""
        return self.inner.allocate(nbytes)

    def adopt(self, array: memoryview) -> DeviceMemory | None:
        """Host bytes in place."""
        return self.inner.adopt(array)

    def synchronize(self) -> None:
        """Launches wait for their end."""


class SplitBackend:
    """Delegates to the reference, and offers less."""

    name = "split"

    def __init__(self) -> None:
        self.inner = reference_backend()
        (self.device,) = self.inner.probe()

    def probe(self) -> Sequence[Device]:
        """One device."""
        return (SplitDevice(self.device),)

    def target(self, device: Device) -> Target:
        """What the reference can do, less barriers over the grid; subgroups are single lanes."""
        inner = self.inner.target(self.device)
        without = inner.features - {Feature.GRID_SYNC}
        return replace(inner, name="split", features=without)

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """Whatever the reference makes of it."""
        return self.inner.emit(program, target, options)

    def load(self, artifact: Artifact, device: Device) -> Executable:
        """Run by the reference."""
        return self.inner.load(artifact, self.device)


def backend() -> SplitBackend:
    """The entry point."""
    return SplitBackend()
