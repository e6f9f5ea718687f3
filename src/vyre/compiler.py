"""The pipeline, on one page: check, optimise, split at grid barriers, emit.

What comes out needs no device: artifacts for every segment, and the optimised program whose
buffers say what a launch binds. Loading and launching are the runtime's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from vyre.check import validate
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.artifact import Artifact
from vyre.driver.backend import Backend, EmitOptions
from vyre.driver.grid_sync import SplitPlan, contains_grid_sync, split
from vyre.ir import Program
from vyre.opt import HotPathHints, OptimizerProfile, OptimizerRunReport, optimize
from vyre.target import Feature, Target

Timer = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What a caller may ask of the pipeline; all of it is part of cache keys."""

    profile: OptimizerProfile | None = OptimizerProfile.RELEASE
    """Which passes may run; None runs none."""
    emit: EmitOptions = field(default_factory=EmitOptions)
    verify: bool = False
    """Check the program again after every pass."""

    def key(self) -> str:
        """The options as one line."""
        profile = "none" if self.profile is None else self.profile.value
        return f"{profile};{self.emit.key()}"


@dataclass(frozen=True, slots=True)
class Compilation:
    """A program, compiled."""

    source: Program
    program: Program
    """What is left of it after the optimizer."""
    artifacts: tuple[Artifact, ...]
    """One for the program, or one per segment that does something."""
    report: OptimizerRunReport | None = None
    elapsed_ns: int = 0

    @property
    def plan(self) -> SplitPlan | None:
        """How it was split, if it was."""
        return split(self.program) if len(self.artifacts) != 1 or self.is_split else None

    @property
    def is_split(self) -> bool:
        """Whether the artifacts are segments of the program."""
        return bool(self.artifacts) and self.artifacts[0].metadata.get("segment") is not None


def compile_program(
    program: Program,
    backend: Backend,
    target: Target,
    options: CompileOptions,
    hints: HotPathHints | None = None,
    report: OptimizerRunReport | None = None,
    stage: Timer = lambda _name: nullcontext(),
) -> Compilation:
    """Take a program through the whole pipeline for one target."""
    started = time.perf_counter_ns()
    with stage("check"):
        validate(program, target)
    made: OptimizerRunReport | None = None
    optimised = program
    if options.profile is not None:
        with stage("optimise"):
            made = optimize(program, options.profile, target, hints, report, verify=options.verify)
            optimised = made.program
    with stage("emit"):
        artifacts = tuple(emit_segments(optimised, backend, target, options.emit))
    elapsed = time.perf_counter_ns() - started
    return Compilation(program, optimised, artifacts, made, elapsed)


def emit_segments(
    program: Program, backend: Backend, target: Target, options: EmitOptions
) -> list[Artifact]:
    """Code for a program, or for each of its segments where the target has no grid barrier."""
    if not contains_grid_sync(program) or target.has(Feature.GRID_SYNC):
        return [backend.emit(program, target, options)]
    plan = split(program)
    found: list[Artifact] = []
    for number, segment in enumerate(plan.segments):
        if number not in plan.empty:
            artifact = backend.emit(segment, target, options)
            metadata = {**artifact.metadata, "segment": number}
            found.append(Artifact(artifact.backend, artifact.payload, metadata, artifact.sources))
    return found


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
