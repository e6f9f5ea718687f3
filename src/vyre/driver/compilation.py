"""A compiled program as a value: what the pipeline makes, the cache keeps and the runtime loads.

This module is all that a warm start needs of the compiler, so it imports nothing of the pipeline.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

if TYPE_CHECKING:
    from vyre.driver.grid_sync import SplitPlan
    from vyre.opt import OptimizerRunReport


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What a caller may ask of the pipeline; all of it is part of cache keys."""

    profile: str | None = "release"
    """The optimizer profile; None runs no pass."""
    emit: EmitOptions = field(default_factory=EmitOptions)
    verify: bool = False
    """Check the program again after every pass."""

    def key(self) -> str:
        """The options as one line."""
        return f"{self.profile or 'none'};{self.emit.key()}"


@dataclass(frozen=True, slots=True)
class Compilation:
    """A program, compiled."""

    source: Program
    program: Program
    """What is left of it after the optimizer."""
    artifacts: tuple[Artifact, ...]
    """One for the program, or one per segment that does something."""
    report: OptimizerRunReport | None = None

    @property
    def plan(self) -> SplitPlan | None:
        """How it was split at grid barriers, if it was."""
        if not self.is_split:
            return None
        from vyre.driver.grid_sync import split

        return split(self.program)

    @property
    def is_split(self) -> bool:
        """Whether the artifacts are segments of the program."""
        return any(artifact.metadata.get("segment") is not None for artifact in self.artifacts)


def to_bytes(compilation: Compilation) -> bytes:
    """A compilation for the cache: the optimised program and its artifacts."""
    parts = [compilation.program.to_wire(), *(a.to_bytes() for a in compilation.artifacts)]
    head = json.dumps([len(part) for part in parts]).encode()
    return len(head).to_bytes(4, "little") + head + b"".join(parts)


def from_bytes(data: bytes, source: Program) -> Compilation:
    """What `to_bytes` wrote."""
    size = int.from_bytes(data[:4], "little")
    try:
        lengths: list[int] = json.loads(data[4 : 4 + size])
        position = 4 + size
        parts: list[bytes] = []
        for length in lengths:
            parts.append(data[position : position + length])
            position += length
    except (ValueError, TypeError) as problem:
        raise BackendError(codes.BAD_ARTIFACT.at(problem=problem)) from problem
    program = Program.from_wire(parts[0])
    artifacts = tuple(Artifact.from_bytes(part) for part in parts[1:])
    return Compilation(source, program, artifacts)
