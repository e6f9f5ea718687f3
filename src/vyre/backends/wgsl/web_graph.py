"""A graph of programs as a web page: the page runs its nodes in order, on buffers they share.

Each node is compiled by itself. Its buffers become those of the graph; scratch and spills of a node
stay its own. Before a node, those of its outputs that an earlier node may have used are wiped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vyre.backends.wgsl.backend import WgpuBackend
from vyre.backends.wgsl.targets import PORTABLE
from vyre.backends.wgsl.web_export import described, encoded, write_page
from vyre.backends.wgsl.web_plan import Json, WebPlan
from vyre.compiler import compile_program
from vyre.driver.compilation import CompileOptions
from vyre.driver.grid import Grid
from vyre.driver.grid_sync.plan import BOUNDS, EXIT
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.record import dataclass

Array = NDArray[Any]

_SHARED = (EXIT, BOUNDS)
"""Buffers by which nodes that were split tell the host something, one after the other."""


@dataclass(frozen=True, slots=True)
class GraphSample:
    """A run of a graph whose outcome is known; buffers are flat."""

    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    trap: str | None = None
    ulps: Mapping[str, float] | None = None


def export_graph(
    graph: Graph, directory: Path, sample: GraphSample, options: CompileOptions | None = None
) -> list[Path]:
    """Write the page into `directory` and give the files."""
    made = _Joined(graph, sample, options or CompileOptions())
    launches = f"{len(graph.nodes)} launches" if len(graph.nodes) > 1 else "1 launch"
    sizes = sorted({node.program.workgroup_size for node in graph.nodes})
    workgroups = ", ".join(" × ".join(map(str, size)) for size in sizes)
    return write_page(directory, graph.name, launches, workgroups, made.shaders, made.to_json())


class _Joined:
    """The plans of all nodes, with one numbering of buffers, segments and shaders."""

    def __init__(self, graph: Graph, sample: GraphSample, options: CompileOptions) -> None:
        self._graph = graph
        self._sample = sample
        self._options = options
        self.shaders: list[str] = []
        self._buffers: list[Json] = []
        self._places: dict[str, int] = {}
        self._segments: list[Json | None] = []
        self._steps: list[Json] = []
        self._used = {b.name for b in graph.buffers if b.role in (Role.INPUT, Role.INOUT)}
        for node in graph.nodes:
            self._add(node)

    def to_json(self) -> Json:
        """What the loader reads."""
        wanted = [b for b in self._graph.buffers if b.role in (Role.INOUT, Role.OUTPUT)]
        ulps = self._sample.ulps or {}
        return {
            "buffers": self._buffers,
            "segments": self._segments,
            "steps": self._steps,
            "exit": self._places.get(EXIT),
            "bounds": self._places.get(BOUNDS),
            "trap": self._sample.trap,
            "outputs": [
                {
                    **{
                        k: v for k, v in self._buffers[self._places[b.name]].items() if k != "input"
                    },
                    "buffer": self._places[b.name],
                    "ulps": ulps.get(b.name, 0),
                    "expected": encoded(self._sample.expected.get(b.name)),
                }
                for b in wanted
            ],
        }

    def _add(self, node: GraphNode) -> None:
        to_graph = dict(node.connections)
        counts = {own: self._count(name) for own, name in node.connections}
        compiled = compile_program(node.program, WgpuBackend(), PORTABLE, self._options)
        grid = _grid(node)
        plan = WebPlan(compiled, counts, grid if 0 not in grid else (1, 1, 1))
        places = [self._place(node, plan, to_graph, name) for name in plan.elements]
        self._wipe_outputs(node, to_graph)
        if 0 in grid:
            return
        first = len(self._segments)
        for segment in plan.segments:
            self._segments.append(None if segment is None else self._moved(segment, places))
        self.shaders += plan.shaders
        self._steps += _renumbered(plan.steps, places, first)

    def _count(self, name: str) -> int:
        found = self._graph.buffer(name)
        assert found is not None
        return found.count

    def _place(self, node: GraphNode, plan: WebPlan, to_graph: Mapping[str, str], name: str) -> int:
        """The number of a node's buffer on the page."""
        own = name if name in _SHARED else f"{node.name}: {name}"
        key = to_graph.get(name, own)
        if key not in self._places:
            self._places[key] = len(self._buffers)
            buffer = self._graph.buffer(key) if name in to_graph else None
            given = None if buffer is None else self._given(buffer)
            self._buffers.append({**described(plan, name), "name": key, "input": encoded(given)})
        return self._places[key]

    def _given(self, buffer: GraphBuffer) -> Array | None:
        if buffer.role is Role.CONSTANT:
            return np.frombuffer(buffer.data, np.uint8)
        return self._sample.inputs.get(buffer.name)

    def _wipe_outputs(self, node: GraphNode, to_graph: Mapping[str, str]) -> None:
        """What a program declares as its output is zero when its node begins."""
        outputs = [d.name for d in node.program.buffers if d.is_device_allocated]
        stale = [self._places[to_graph[own]] for own in outputs if to_graph[own] in self._used]
        if stale:
            self._steps.append({"do": "wipe", "buffers": stale})
        self._used.update(name for _, name in node.connections)

    def _moved(self, segment: Json, places: Sequence[int]) -> Json:
        bound = cast("list[Json]", segment["bindings"])
        bindings: list[Json] = [{**each, "buffer": places[each["buffer"]]} for each in bound]
        return {**segment, "shader": segment["shader"] + len(self.shaders), "bindings": bindings}


def _grid(node: GraphNode) -> Grid:
    assert node.grid is not None
    return node.grid


def _renumbered(steps: Sequence[Json], places: Sequence[int], first: int) -> list[Json]:
    """Steps of one node with the page's numbers of buffers and segments."""
    found: list[Json] = []
    for step in steps:
        changed = dict(step)
        for key in ("segment", "bySegment", "condition"):
            if changed.get(key) is not None:
                changed[key] += first
        for key in ("source", "destination", "variable"):
            if changed.get(key) is not None:
                changed[key] = places[changed[key]]
        if "buffers" in changed:
            changed["buffers"] = [places[each] for each in changed["buffers"]]
        if "steps" in changed:
            changed["steps"] = _renumbered(cast("list[Json]", changed["steps"]), places, first)
        found.append(changed)
    return found
