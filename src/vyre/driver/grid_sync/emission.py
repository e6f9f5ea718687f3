"""Code for a program that may have barriers over the whole grid."""

from __future__ import annotations

from vyre.driver.artifact import Artifact
from vyre.driver.backend import Backend, EmitOptions
from vyre.driver.grid_sync.outline import contains_grid_sync
from vyre.driver.grid_sync.segment_errors import in_segment
from vyre.driver.grid_sync.split import split
from vyre.ir import Program
from vyre.target import Feature, Target


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
            with in_segment(number, len(plan.segments)):
                artifact = backend.emit(segment, target, options)
            metadata = {**artifact.metadata, "segment": number}
            found.append(Artifact(artifact.backend, artifact.payload, metadata, artifact.sources))
    return found
