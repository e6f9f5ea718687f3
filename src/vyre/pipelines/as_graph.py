"""The plan of a call as a graph: its launches are nodes, its arrays are buffers.

Numbers and shapes of the call are constants of the graph, so that the graph runs without the
pipeline: in another process, from a file, or in a browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vyre import ir
from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import graph as codes
from vyre.front.parameters import ArrayParameter, Mode, Parameter
from vyre.ir.buffer import SHAPE
from vyre.pipelines.execute import AnyRun, CopyRun, Run, Window
from vyre.pipelines.steps import Buffer, Grid, launch_of
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.runtime.host_types import numpy_type

_ROLES = {Mode.IN: Role.INPUT, Mode.INOUT: Role.INOUT, Mode.OUT: Role.OUTPUT}
_WIDTH = 64
"""Invocations of a workgroup of copies and clears."""


def graph_of(
    name: str,
    windows: Sequence[Window],
    parameters: Mapping[str, Parameter],
    results: Sequence[Buffer],
) -> Graph:
    """The graph of a call that was planned, and in whose course the device had no say."""
    made = _Builder(name, parameters, results)
    for window in windows:
        for group, runs in zip(window.known.plan.groups, window.runs, strict=True):
            for number in group.zeroed:
                # Scratch of a graph begins as zeros: no node is needed.
                made.buffer(window.buffers[number])
            for run in runs:
                made.add(run, window.buffers)
    return Graph.of(name, made.buffers.values(), made.nodes)


class _Builder:
    def __init__(
        self, name: str, parameters: Mapping[str, Parameter], results: Sequence[Buffer]
    ) -> None:
        self._name = name
        self._parameters = parameters
        self._results = {id(each) for each in results}
        self._names: dict[int, str] = {}
        self.buffers: dict[str, GraphBuffer] = {}
        self.nodes: list[GraphNode] = []

    def add(self, run: AnyRun, buffers: Sequence[Buffer]) -> None:
        """Add what a step of a window does."""
        match run:
            case Run(kernel, values, places, extents, sites):
                given = dict(zip(kernel.source.parameters, values, strict=True))
                for position, number in places:
                    given[list(given)[position]] = buffers[number]
                launch = launch_of(kernel, given, *extents, sites[0])
                title = " + ".join(site.name for site in sites)
                self._node(title, launch.program, given, launch.grid)
            case CopyRun(source, target):
                pair = {"source": buffers[source], "target": buffers[target]}
                self._node("copy", _copy(buffers[source].dtype), pair, _covering(buffers[target]))
            case _:
                only = {"target": buffers[run.buffer]}
                grid = _covering(buffers[run.buffer])
                self._node("clear", _clear(buffers[run.buffer].dtype), only, grid)

    def _node(self, title: str, program: ir.Program, given: Mapping[str, Any], grid: Grid) -> None:
        name = _unused(title, {node.name for node in self.nodes})
        connections: dict[str, str] = {}
        for decl in program.buffers:
            if decl.binding is None:
                continue
            base = decl.name.removesuffix(SHAPE)
            value = given.get(base)
            if isinstance(value, Buffer) and base == decl.name:
                connections[decl.name] = self.buffer(value)
            elif isinstance(value, Buffer):
                connections[decl.name] = self._constant(f"{name}.{decl.name}", decl, value.shape)
            elif value is not None:
                connections[decl.name] = self._constant(f"{name}.{decl.name}", decl, (value,))
            else:
                raise _refused(self._name, f"the launch {title} has {decl.name!r} from elsewhere")
        self.nodes.append(GraphNode.of(name, program, connections, grid))

    def buffer(self, buffer: Buffer) -> str:
        """The name of an array in the graph, which gets it when it is first used."""
        found = self._names.get(id(buffer))
        if found is not None:
            return found
        if not buffer.size:
            raise _refused(self._name, f"the array {buffer.name!r} has no elements")
        if not buffer.is_plain:
            raise _refused(self._name, f"the array {buffer.name!r} is a view with strides")
        name = self._names[id(buffer)] = _unused(buffer.name, self.buffers)
        role = Role.OUTPUT if id(buffer) in self._results else Role.SCRATCH
        parameter = self._parameters.get(buffer.name)
        if not buffer.is_scratch and isinstance(parameter, ArrayParameter):
            role = _ROLES[parameter.mode]
        self.buffers[name] = GraphBuffer(name, role, buffer.dtype, buffer.size)
        return name

    def _constant(self, name: str, decl: ir.BufferDecl, values: Sequence[Any]) -> str:
        found = _unused(name, self.buffers)
        dtype = numpy_type(decl.element)
        data = np.array(values).astype(dtype.newbyteorder("<")).tobytes()
        self.buffers[found] = GraphBuffer(found, Role.CONSTANT, decl.element, len(values), data)
        return found


def _unused(name: str, taken: Any) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}.{number}", number + 1
    return found


def _copy(dtype: ir.DataType) -> ir.Program:
    source = ir.BufferDecl.read("source", 0, dtype)
    value = ir.Expr.load("source", ir.Expr.gid(0))
    return _stored([source], value, dtype)


def _clear(dtype: ir.DataType) -> ir.Program:
    zero = ir.BufferDecl.local("zero", 1, dtype)
    return _stored([zero], ir.Expr.load("zero", 0), dtype)


def _stored(others: list[ir.BufferDecl], value: ir.AnyExpr, dtype: ir.DataType) -> ir.Program:
    """A program that stores a value to each element of its target."""
    binding = sum(each.binding is not None for each in others)
    target = ir.BufferDecl.read_write("target", binding, dtype)
    store = ir.Node.store("target", ir.Expr.gid(0), value)
    inside = ir.Node.if_(ir.Expr.gid(0) < ir.Expr.buf_len("target"), [store])
    return ir.Program.wrapped([*others, target], (_WIDTH, 1, 1), [inside])


def _covering(buffer: Buffer) -> Grid:
    return (-(-buffer.size // _WIDTH), 1, 1)


def decides_on_the_device(name: str) -> PlanError:
    """The error for a call in whose course the device has a say."""
    return _refused(name, "it decides by flags or counts, and a graph has no decisions")


def _refused(name: str, problem: str) -> PlanError:
    return PlanError(codes.NO_GRAPH.at(name=name, problem=problem))
