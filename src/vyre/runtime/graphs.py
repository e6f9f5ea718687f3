"""Runs the nodes of a graph one after another, on buffers that stay on the device."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from vyre.diagnostics import DeadlineError, PlanError
from vyre.diagnostics.codes import execution
from vyre.diagnostics.codes import graph as codes
from vyre.driver import routing
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.runtime.device_array import DeviceArray, array, zeros
from vyre.runtime.host_types import numpy_type
from vyre.runtime.run import run

_GIVEN = (Role.INPUT, Role.INOUT)


def run_graph(
    graph: Graph,
    inputs: Mapping[str, object],
    sizes: Mapping[str, int],
    device: str | None,
    deadline: float | None,
) -> dict[str, Any]:
    """What the host gets: the inouts and outputs, as numpy arrays."""
    end = None if deadline is None else time.monotonic() + deadline
    chosen = routing.choose(device).device.info.id
    _refuse_others(graph, inputs)
    memory = {each.name: _memory(each, inputs, sizes, chosen) for each in graph.buffers}
    for node in graph.nodes:
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise DeadlineError(execution.DEADLINE.at(seconds=deadline))
        _launch(node, memory, chosen, left)
    results = [each.name for each in graph.buffers if each.role in (Role.INOUT, Role.OUTPUT)]
    return {name: memory[name].numpy() for name in results}


def _launch(
    node: GraphNode, memory: dict[str, DeviceArray], device: str, deadline: float | None
) -> None:
    if node.grid is not None and 0 in node.grid:
        _clear_outputs(node, memory)
        return
    given: dict[str, object] = {}
    sizes: dict[str, int] = {}
    for own, name in node.connections:
        decl = node.program.buffer(own)
        if decl is not None and decl.is_device_allocated:
            sizes[own] = memory[name].size
        if decl is not None and decl.is_host_input:
            given[own] = memory[name]
    made = run(
        node.program,
        given,
        grid=node.grid,
        sizes=sizes or None,
        device=device,
        deadline=deadline,
        in_place=True,
    )
    for own, name in node.connections:
        if own in made and made[own] is not memory[name]:
            memory[name] = _on_device(made[own], device)


def _on_device(found: Any, device: str) -> DeviceArray:
    return found if isinstance(found, DeviceArray) else array(found, device)


def _clear_outputs(node: GraphNode, memory: dict[str, DeviceArray]) -> None:
    """A grid of no workgroups runs nothing, and its outputs are zeros."""
    for own, name in node.connections:
        decl = node.program.buffer(own)
        if decl is not None and decl.is_device_allocated:
            memory[name].hold().memory.zero()


def _memory(
    buffer: GraphBuffer, inputs: Mapping[str, object], sizes: Mapping[str, int], device: str
) -> DeviceArray:
    dtype = numpy_type(buffer.element)
    if buffer.role is Role.CONSTANT:
        return array(np.frombuffer(buffer.data, dtype.newbyteorder("<")).astype(dtype), device)
    if buffer.role not in _GIVEN:
        count = buffer.count or sizes.get(buffer.name)
        if count is None:
            fix = "give its length by name, among the sizes"
            problem = f"the buffer {buffer.name!r} has no count"
            raise PlanError(codes.BAD_INPUT.at(problem=problem, fix=fix))
        return zeros(count, dtype, device)
    if buffer.name not in inputs:
        fix = "give it by name, among the inputs"
        raise PlanError(codes.BAD_INPUT.at(problem=f"there is no {buffer.name!r}", fix=fix))
    found = np.asarray(_host(inputs[buffer.name]))
    if found.dtype != dtype or (buffer.count and found.size != buffer.count):
        wanted = f"{buffer.element}[{buffer.count or ''}]"
        problem = f"{buffer.name!r} is {found.dtype}[{found.size}], not {wanted}"
        raise PlanError(
            codes.BAD_INPUT.at(problem=problem, fix="give an array of that type and length")
        )
    return array(np.ascontiguousarray(found).reshape(-1), device)


def _host(given: object) -> object:
    return given.numpy() if isinstance(given, DeviceArray) else given


def _refuse_others(graph: Graph, inputs: Mapping[str, object]) -> None:
    known = [each.name for each in graph.buffers if each.role in _GIVEN]
    for name in inputs:
        if name not in known:
            fix = "leave it out, or correct its name"
            problem = f"the graph takes no {name!r}, but {', '.join(known) or 'nothing'}"
            raise PlanError(codes.BAD_INPUT.at(problem=problem, fix=fix))
