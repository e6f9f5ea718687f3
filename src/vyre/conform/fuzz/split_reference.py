"""The reference without grid barriers: the driver has to split programs for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vyre.backends.reference import backend as reference
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Device, EmitOptions, Executable
from vyre.ir import Program
from vyre.target import Feature, Target


class SplitReference:
    """A backend that runs every segment of a split program on the reference."""

    name = "reference"

    def __init__(self) -> None:
        self._inner = reference()

    def probe(self) -> Sequence[Device]:
        """The reference's device."""
        return self._inner.probe()

    def target(self, device: Device) -> Target:
        """All of the reference's features but one."""
        whole = self._inner.target(device)
        return replace(whole, features=whole.features - {Feature.GRID_SYNC})

    def emit(self, program: Program, target: Target, options: EmitOptions) -> Artifact:
        """As the reference does."""
        return self._inner.emit(program, target, options)

    def load(self, artifact: Artifact, device: Device) -> Executable:
        """As the reference does."""
        return self._inner.load(artifact, device)


def split_reference() -> SplitReference:
    """A new one."""
    return SplitReference()
