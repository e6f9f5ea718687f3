"""How a page runs a program: its buffers, its segments, and the steps that launch them, as JSON.

The loader of a page does what the driver does with a split program. A program without barriers over
the whole grid is one segment that is launched once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, assert_never

from vyre.backends.wgsl.atomics import STORAGE_LOCKS
from vyre.backends.wgsl.shader import Shader, choose
from vyre.backends.wgsl.targets import PORTABLE
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.compilation import Compilation
from vyre.driver.grid import Grid
from vyre.driver.grid_sync.plan import (
    BOUNDS,
    EXIT,
    Clear,
    ConditionLoop,
    CopyBuffer,
    CountedLoop,
    Launch,
    SplitPlan,
    Step,
)
from vyre.ir import DataType, Program

Json = dict[str, Any]

MOST_WORKGROUPS = 65_535
"""Workgroups along an axis that every browser launches."""


class WebPlan:
    """A compiled program in the terms of a page; `counts` are elements by buffer."""

    def __init__(self, compilation: Compilation, counts: Mapping[str, int], grid: Grid) -> None:
        self.grid = grid
        self.counts = dict(counts)
        self.elements: dict[str, DataType] = {}
        self.shaders: list[str] = []
        for decl in compilation.program.buffers:
            if not decl.is_on_chip:
                self._add(decl.name, decl.element, self.counts.get(decl.name, decl.count))
        plan = compilation.plan
        loaded = {
            number: Shader.from_bytes(artifact.payload)
            for number, artifact in zip(_numbers(compilation), compilation.artifacts, strict=True)
        }
        programs: Sequence[Program] = [compilation.program]
        self.steps: list[Json] = [{"do": "launch", "segment": 0, "leaves": False}]
        if plan is not None:
            programs = plan.segments
            self._add_spills(plan)
            self.steps = self._steps(plan.steps)
        self.segments = [
            self._segment(program, loaded[number]) if number in loaded else None
            for number, program in enumerate(programs)
        ]

    def place(self, name: str) -> int | None:
        """The number of a buffer; None if there is none of that name."""
        return list(self.elements).index(name) if name in self.elements else None

    def size(self, name: str) -> int:
        """The bytes of a buffer."""
        return self.counts[name] * (self.elements[name].size_bytes or 0)

    def _add(self, name: str, element: DataType, count: int) -> None:
        self.elements[name] = element
        self.counts[name] = count
        limit = PORTABLE.limits.max_buffer_bytes
        if self.size(name) > limit:
            found, what = self.size(name), f"the buffer {name!r}"
            raise BackendError(
                codes.BUFFER_TOO_LARGE.at(what=what, found=found, device="WebGPU", limit=limit)
            )

    def _add_spills(self, plan: SplitPlan) -> None:
        workgroups, size = prod(self.grid), prod(plan.segments[0].workgroup_size)
        for spill in plan.spills:
            self._add(spill.buffer, spill.element, spill.count(workgroups, size))

    def _segment(self, program: Program, shader: Shader) -> Json:
        bound = [decl.name for decl in program.buffers if not decl.is_on_chip]
        counts = [self.counts[name] for name in bound]
        choice = choose(shader, counts, self.grid, MOST_WORKGROUPS)
        self.shaders.append(shader.general if choice.is_general else shader.text)
        return {
            "shader": len(self.shaders) - 1,
            "grid": list(choice.grid),
            "record": choice.record,
            "bindings": [
                {"buffer": self.place(bound[b.argument]), "size": b.size(counts[b.argument])}
                for b in shader.bindings
            ],
            "tags": list(shader.tags),
            "lockBytes": 4 * STORAGE_LOCKS if shader.locked else 0,
        }

    def _steps(self, steps: Sequence[Step]) -> list[Json]:
        return [self._step(step) for step in steps]

    def _step(self, step: Step) -> Json:
        match step:
            case Launch(segment, leaves):
                return {"do": "launch", "segment": segment, "leaves": leaves}
            case CopyBuffer(source, destination):
                return {
                    "do": "copy",
                    "source": self.place(source),
                    "destination": self.place(destination),
                    "size": min(self.size(source), self.size(destination)),
                }
            case Clear(buffers):
                return {"do": "wipe", "buffers": [self.place(name) for name in buffers]}
            case CountedLoop(variable, bounds, inner):
                by_segment = bounds.segment if isinstance(bounds, Launch) else None
                # As text: JavaScript's numbers do not hold 64 bits.
                known = ["0", "0"] if isinstance(bounds, Launch) else [str(each) for each in bounds]
                return {
                    "do": "count",
                    "variable": self.place(variable.buffer),
                    "signed": variable.element.is_signed,
                    "bounds": known,
                    "bySegment": by_segment,
                    "steps": self._steps(inner),
                }
            case ConditionLoop(condition, inner):
                return {
                    "do": "repeat",
                    "condition": condition.segment,
                    "steps": self._steps(inner),
                }
            case _:
                assert_never(step)

    def to_json(self) -> Json:
        """What the loader reads, but for the contents of memory."""
        return {
            "segments": self.segments,
            "steps": self.steps,
            "exit": self.place(EXIT),
            "bounds": self.place(BOUNDS),
        }


def _numbers(compilation: Compilation) -> list[int]:
    """Which segment each artifact is."""
    found = [artifact.metadata.get("segment") for artifact in compilation.artifacts]
    return [number if isinstance(number, int) else 0 for number in found]
