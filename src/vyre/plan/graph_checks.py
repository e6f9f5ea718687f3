"""What is wrong with a graph: found when it is made, before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import graph as codes

if TYPE_CHECKING:
    from vyre.plan.graph import Graph, GraphBuffer, GraphNode

_LONGEST_NAME = 4096
_MOST = (1 << 32) - 1
_FROM_HOST = ("input", "inout", "constant")


def check(graph: Graph) -> None:
    """Raise a `PlanError` for the first thing that is wrong."""
    _check_names("the graph", [graph.name])
    _check_names("a buffer", [each.name for each in graph.buffers])
    _check_names("a node", [each.name for each in graph.nodes])
    if not graph.nodes:
        raise PlanError(codes.MALFORMED.at(problem="it has no nodes", fix="give at least one node"))
    for each in graph.buffers:
        _check_buffer(each)
    for node in graph.nodes:
        _check_node(graph, node)
    _check_order(graph)


def _check_names(what: str, names: list[str]) -> None:
    for name in names:
        if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME):
            fix = "give printable text of 1 to 4096 characters"
            raise PlanError(codes.MALFORMED.at(problem=f"{what} is called {name!r}", fix=fix))
    for name, count in Counter(names).items():
        if count > 1:
            problem = f"{what} is called {name!r}, like another one"
            raise PlanError(codes.MALFORMED.at(problem=problem, fix="give each a name of its own"))


def _check_buffer(buffer: GraphBuffer) -> None:
    size = buffer.element.size_bytes
    problem = ""
    if size is None:
        problem = f"the buffer {buffer.name!r} has elements of no fixed size"
    elif not (isinstance(buffer.count, int) and 0 <= buffer.count <= _MOST):
        problem = f"the buffer {buffer.name!r} has a count of {buffer.count!r}"
    elif buffer.role.value == "constant":
        if not buffer.count or len(buffer.data) != buffer.count * size:
            problem = f"the constant {buffer.name!r} has {len(buffer.data)} bytes"
    elif buffer.data:
        problem = f"the buffer {buffer.name!r} has bytes, and is no constant"
    if problem:
        fix = "give a count from 0 to 2^32 - 1; and to a constant, its bytes"
        raise PlanError(codes.MALFORMED.at(problem=problem, fix=fix))


def _check_node(graph: Graph, node: GraphNode) -> None:
    if not isinstance(node.program, ir.Program):
        problem = f"the node {node.name!r} has a {type(node.program).__name__} for a program"
        raise PlanError(codes.MALFORMED.at(problem=problem, fix="take the program of a kernel"))
    grid = node.grid
    if grid is not None and not (len(grid) == 3 and all(0 <= extent <= _MOST for extent in grid)):
        problem = f"the node {node.name!r} has the grid {grid!r}"
        raise PlanError(codes.MALFORMED.at(problem=problem, fix="give three numbers of workgroups"))
    bound = [decl.name for decl in node.program.buffers if decl.binding is not None]
    for own, name in node.connections:
        decl = node.program.buffer(own)
        if decl is None or decl.binding is None:
            problem = f"its program has no buffer {own!r} to connect"
            raise PlanError(
                codes.MISSING_BUFFER.at(node=node.name, problem=problem, known=_list(bound))
            )
        buffer = graph.buffer(name)
        if buffer is None:
            problem = f"the graph has no buffer {name!r} for its {own!r}"
            known = _list(each.name for each in graph.buffers)
            raise PlanError(codes.MISSING_BUFFER.at(node=node.name, problem=problem, known=known))
        _check_edge(node, decl, buffer)
    if [own for own, _ in node.connections] != bound:
        problem = "its buffers are not connected once each, in their order"
        raise PlanError(
            codes.MISSING_BUFFER.at(node=node.name, problem=problem, known=_list(bound))
        )
    _check_twice(node)


def _check_edge(node: GraphNode, decl: ir.BufferDecl, buffer: GraphBuffer) -> None:
    counts = decl.count and buffer.count and decl.count != buffer.count
    if decl.element is not buffer.element or counts:
        own = f"{decl.element}[{decl.count or ''}]"
        graphs = f"{buffer.element}[{buffer.count or ''}]"
        raise PlanError(
            codes.EDGE_TYPES.at(
                node=node.name, own=decl.name, first=own, name=buffer.name, second=graphs
            )
        )
    if _writes(node, decl.name) and buffer.role.value in ("input", "constant"):
        raise PlanError(
            codes.WRITES_INPUT.at(node=node.name, name=buffer.name, role=buffer.role.value)
        )


def _check_twice(node: GraphNode) -> None:
    users: dict[str, list[str]] = {}
    for own, name in node.connections:
        users.setdefault(name, []).append(own)
    for name, several in users.items():
        if len(several) > 1 and any(_writes(node, own) for own in several):
            raise PlanError(
                codes.CONNECTED_TWICE.at(node=node.name, name=name, one=several[0], two=several[1])
            )


def _check_order(graph: Graph) -> None:
    """Refuse reads of what no node before has written, and results that none writes."""
    written = {each.name for each in graph.buffers if each.role.value in _FROM_HOST}
    for position, node in enumerate(graph.nodes):
        for own, name in node.connections:
            if name not in written and _reads(node, own) and not _starts_as_zeros(node, own):
                _refuse_read(graph, position, name)
        written.update(name for own, name in node.connections if _writes(node, own))
    for buffer in graph.buffers:
        if buffer.role.value == "output" and buffer.name not in written:
            raise PlanError(codes.NEVER_WRITTEN.at(what="the host gets", name=buffer.name))


def _refuse_read(graph: Graph, position: int, name: str) -> None:
    """The error for a read that comes too early: a cycle, or an order that nothing forces."""
    node = graph.nodes[position]
    if any(other == name and _writes(node, own) for own, other in node.connections):
        return  # It adds to zeros, as a histogram does.
    writer = next((n for n in graph.nodes[position + 1 :] if name in _written_by(n)), None)
    if writer is None:
        raise PlanError(codes.NEVER_WRITTEN.at(what=f"{node.name!r} reads", name=name))
    if _needs(graph, writer, node):
        raise PlanError(codes.CYCLE.at(one=node.name, name=name, two=writer.name))
    raise PlanError(codes.TOO_EARLY.at(node=node.name, name=name, writer=writer.name))


def _needs(graph: Graph, node: GraphNode, other: GraphNode) -> bool:
    """True if a node reads, by way of any others, what another one writes."""
    wanted, known = {node.name}, set[str]()
    by_name = {each.name: each for each in graph.nodes}
    while wanted:
        current = by_name[wanted.pop()]
        known.add(current.name)
        read = {name for own, name in current.connections if _reads(current, own)}
        for each in graph.nodes:
            if each.name not in known and read & _written_by(each):
                if each is other:
                    return True
                wanted.add(each.name)
    return False


def _written_by(node: GraphNode) -> set[str]:
    return {name for own, name in node.connections if _writes(node, own)}


def _writes(node: GraphNode, own: str) -> bool:
    return own in ProgramFacts.of(node.program).written_buffers


def _reads(node: GraphNode, own: str) -> bool:
    return own in ProgramFacts.of(node.program).read_buffers


def _starts_as_zeros(node: GraphNode, own: str) -> bool:
    decl = node.program.buffer(own)
    return decl is not None and decl.is_device_allocated


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
