"""A pipeline as a web page, with arguments given or made up, checked against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vyre import ir
from vyre.backends.reference import execute
from vyre.backends.wgsl.targets import PORTABLE
from vyre.backends.wgsl.web_graph import GraphSample, export_graph
from vyre.cli import arrays
from vyre.cli.arrays import Array
from vyre.cli.command import UsageError
from vyre.cli.samples import LENGTH, made_up
from vyre.conform.tolerance import tolerances
from vyre.diagnostics import TrapError
from vyre.front.parameters import ArrayParameter, Mode, ScalarParameter
from vyre.ir import DataType
from vyre.pipelines.pipeline import Pipeline
from vyre.plan.graph import Graph, GraphNode, Role
from vyre.runtime.host_types import numpy_type


def export_pipeline(
    pipeline: Pipeline[..., Any], folder: Path, given: Mapping[str, str]
) -> list[Path]:
    """Write the page of a call with these inputs; what is not given is made up."""
    declared = _declared(pipeline)
    named = arrays.inputs_from(declared, dict(given))
    values = _arguments(pipeline, declared, named)
    graph = _portable_graph(pipeline, values)
    flat = {name: value.reshape(-1) for name, value in values.items()}
    return export_graph(graph, folder, sample_of(graph, flat))


def _declared(pipeline: Pipeline[..., Any]) -> ir.Program:
    """The parameters as buffers of a program that does nothing."""
    decls: list[ir.BufferDecl] = []
    for name, parameter in pipeline.written.parameters.items():
        if not isinstance(parameter, (ArrayParameter, ScalarParameter)):
            raise UsageError(f"{pipeline.__name__}: {name} is static; pages have no static values")
        if not isinstance(parameter.dtype, DataType):
            raise UsageError(f"{pipeline.__name__}: the type of {name} is open")
        decl = ir.BufferDecl.read_write(name, len(decls), parameter.dtype)
        decls.append(decl.with_count(1) if isinstance(parameter, ScalarParameter) else decl)
    return ir.Program.wrapped(decls, (1, 1, 1), [])


def _arguments(
    pipeline: Pipeline[..., Any], declared: ir.Program, named: Mapping[str, Array]
) -> dict[str, Array]:
    """All arguments as arrays: as given, zeros for outputs, made up else."""
    dice = np.random.default_rng(0)
    length = max((array.size for array in named.values()), default=LENGTH)
    found: dict[str, Array] = {}
    for decl in declared.buffers:
        parameter = pipeline.written.parameters[decl.name]
        rank = parameter.rank if isinstance(parameter, ArrayParameter) else 1
        axis = max(1, round(length ** (1 / rank)))
        if decl.name in named:
            array = np.asarray(named[decl.name])
        elif isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT:
            array = np.zeros((axis,) * rank, numpy_type(decl.element))
        else:
            array = made_up(decl, decl.count or axis**rank, length, dice)
            array = array if decl.count else array.reshape((axis,) * rank)
        if array.ndim != rank and not decl.count:
            raise UsageError(f"--in {decl.name}: an array of {rank} axes is needed")
        found[decl.name] = array
    return found


def _portable_graph(pipeline: Pipeline[..., Any], values: Mapping[str, Array]) -> Graph:
    """The graph of a call within the limits that every browser grants."""
    given = {
        name: value
        if isinstance(pipeline.written.parameters[name], ArrayParameter)
        else value.reshape(-1)[0].item()
        for name, value in values.items()
    }
    portable = Pipeline(pipeline.written, pipeline.__wrapped__, target=PORTABLE)
    graph = portable.graph(device="reference", **given)
    for node in graph.nodes:
        node.program.validate(PORTABLE)
    return graph


def sample_of(graph: Graph, inputs: Mapping[str, Array]) -> GraphSample:
    """Run the reference, as a WebGPU device with portable subgroups would."""
    memory: dict[str, Array] = {}
    for buffer in graph.buffers:
        dtype = numpy_type(buffer.element)
        if buffer.role is Role.CONSTANT:
            memory[buffer.name] = np.frombuffer(buffer.data, dtype)
        elif buffer.role in (Role.INPUT, Role.INOUT):
            memory[buffer.name] = np.asarray(inputs[buffer.name], dtype)
        else:
            memory[buffer.name] = np.zeros(buffer.count, dtype)
    given = {b.name: memory[b.name] for b in graph.buffers if b.role in (Role.INPUT, Role.INOUT)}
    try:
        for node in graph.nodes:
            _execute(node, memory)
    except TrapError as trapped:
        return GraphSample(given, {}, trapped.tag)
    wanted = [b.name for b in graph.buffers if b.role in (Role.INOUT, Role.OUTPUT)]
    granted = sum(
        max((each.ulps for each in tolerances(node.program).values()), default=0.0)
        for node in graph.nodes
    )
    expected = {name: memory[name] for name in wanted}
    return GraphSample(given, expected, None, dict.fromkeys(wanted, granted))


def _execute(node: GraphNode, memory: dict[str, Array]) -> None:
    program, own = node.program, dict(node.connections)
    given = {d.name: memory[own[d.name]] for d in program.buffers if d.is_host_input}
    open_ = [d for d in program.buffers if d.is_device_allocated and not d.count]
    sizes = {d.name: memory[own[d.name]].size for d in open_}
    assert node.grid is not None
    if 0 in node.grid:
        for decl in program.buffers:
            if decl.is_device_allocated:
                memory[own[decl.name]] = np.zeros_like(memory[own[decl.name]])
        return
    width = PORTABLE.subgroup_width
    done = execute(program, given, node.grid, subgroup_width=width, output_sizes=sizes)
    for name, array in done.outputs.items():
        memory[own[name]] = array
