"""A compiled program as a value: what the pipeline makes, the cache keeps and the runtime loads.

This module is all that a warm start needs of the compiler, so it imports nothing of the pipeline.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, TypedDict

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.record import dataclass
from vyre.signals import is_from_handler

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
        return f"{self.profile!r};{self.verify};{self.emit.key()}"


class Compilation:
    """A program, compiled."""

    __slots__ = (
        *("_program", "_wire", "artifacts", "bound_names", "found"),
        *("has_scratch", "report", "source"),
    )

    def __init__(
        self,
        source: Program,
        program: Program | bytes,
        artifacts: tuple[Artifact, ...],
        report: OptimizerRunReport | None = None,
        launch: _LaunchNeeds | None = None,
        found: bytes = b"",
    ) -> None:
        self.source = source
        self._program, self._wire = (
            (None, program) if isinstance(program, bytes) else (program, b"")
        )
        self.artifacts = artifacts
        """One for the program, or one per segment that does something."""
        self.report = report
        """What the optimizer did; None for what was taken from the cache."""
        self.found = found
        """The cost report of a full run on a hot program, as bytes; empty for other runs."""
        needs = launch or _needs(self.program)
        self.bound_names = tuple(needs["bound"])
        """The buffers that a launch binds to memory, in the order of declaration."""
        self.has_scratch = needs["scratch"]
        """Whether some of them are scratch, which the runtime provides."""

    @property
    def program(self) -> Program:
        """What is left of the source after the optimizer; read from bytes when first needed."""
        if self._program is None:
            self._program = Program.from_wire(self._wire)
        return self._program

    @property
    def plan(self) -> SplitPlan | None:
        """How it was split at grid barriers, if it was."""
        if not self.is_split:
            return None
        from vyre.driver.grid_sync import split

        return split(self.program)

    @property
    def is_split(self) -> bool:
        """Whether the artifacts are segments of the program, of which none may do anything."""
        return all(artifact.metadata.get("segment") is not None for artifact in self.artifacts)


class _LaunchNeeds(TypedDict):
    """What a launch must know of the optimised program, so that most never read it back."""

    bound: list[str]
    scratch: bool


def _needs(program: Program) -> _LaunchNeeds:
    bound = [decl.name for decl in program.buffers if not decl.is_on_chip]
    return {"bound": bound, "scratch": any(decl.is_scratch for decl in program.buffers)}


def to_bytes(compilation: Compilation) -> bytes:
    """A compilation for the cache: the optimised program and its artifacts."""
    parts = [compilation.program.to_wire(), *(a.to_bytes() for a in compilation.artifacts)]
    head = {
        "launch": _needs(compilation.program),
        "lengths": [len(part) for part in parts],
        "found": compilation.found.decode(),
    }
    data = json.dumps(head).encode()
    return len(data).to_bytes(4, "little") + data + b"".join(parts)


def from_bytes(data: bytes | memoryview, source: Program) -> Compilation:
    """What `to_bytes` wrote."""
    data = memoryview(data)
    size = int.from_bytes(data[:4], "little")
    try:
        head = json.loads(bytes(data[4 : 4 + size]))
        position = 4 + size
        parts: list[memoryview] = []
        for length in head["lengths"]:
            parts.append(data[position : position + length])
            position += length
        artifacts = tuple(Artifact.from_bytes(part) for part in parts[1:])
        launch, report = head["launch"], head["found"].encode()
        return Compilation(source, bytes(parts[0]), artifacts, launch=launch, found=report)
    except (AttributeError, ValueError, TypeError, KeyError, IndexError) as problem:
        if is_from_handler(problem):
            raise
        raise BackendError(codes.BAD_ARTIFACT.at(problem=problem)) from problem
