"""Graphs as text: `graph_text` writes, `parse_graph` reads back an equal graph.

    graph "twice"

    buffer "x": input f32[100]
    buffer "t": scratch f32[100]
    buffer "a": constant f32[1] hex"00004040"
    buffer "y": output f32[100]

    node "first": program 0, grid(2, 1, 1) {
      "a" = "a"
      "x" = "x"
      "y" = "t"
    }

    program workgroup(64, 1, 1)
    …

Programs follow the nodes, each once, in the order in which nodes use them first.
"""

from __future__ import annotations

import re

from vyre import ir
from vyre.diagnostics import ParseError
from vyre.diagnostics.codes import text as codes
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Grid, Role
from vyre.text import parse, to_text
from vyre.text.cursor import Cursor
from vyre.text.words import string_text

_PROGRAM = re.compile(r"^program\b", re.MULTILINE)
_ROLES = {role.value: role for role in Role}


def graph_text(graph: Graph) -> str:
    """A graph as text."""
    lines = [f"graph {string_text(graph.name)}", ""]
    lines += [_buffer_line(each) for each in graph.buffers]
    programs = list(dict.fromkeys(node.program for node in graph.nodes))
    for node in graph.nodes:
        grid = "" if node.grid is None else f", grid{node.grid}"
        number = programs.index(node.program)
        lines += ["", f"node {string_text(node.name)}: program {number}{grid} {{"]
        lines += [f"  {string_text(a)} = {string_text(b)}" for a, b in node.connections]
        lines.append("}")
    return "\n".join([*lines, "", *(to_text(program) for program in programs)])


def _buffer_line(buffer: GraphBuffer) -> str:
    count = str(buffer.count) if buffer.count else ""
    data = f' hex"{buffer.data.hex()}"' if buffer.data else ""
    return f"buffer {string_text(buffer.name)}: {buffer.role.value} {buffer.element}[{count}]{data}"


def parse_graph(source: str, file: str = "<text>") -> Graph:
    """The graph that a text writes; a `ParseError` with line and caret if it cannot be read."""
    if not isinstance(source, str):
        raise ParseError(codes.NOT_TEXT.at(found=type(source).__name__))
    starts = [match.start() for match in _PROGRAM.finditer(source)]
    ends = [*starts[1:], len(source)]
    head = source[: starts[0]] if starts else source
    # Lines before a program are kept as empty ones, so that errors name the lines of the file.
    programs = [
        parse("\n" * source.count("\n", 0, start) + source[start:end], file)
        for start, end in zip(starts, ends, strict=True)
    ]
    return _Reader(Cursor(head, file), programs).graph()


class _Reader:
    def __init__(self, cursor: Cursor, programs: list[ir.Program]) -> None:
        self._cursor = cursor
        self._programs = programs

    def graph(self) -> Graph:
        """The whole graph."""
        cursor = self._cursor
        cursor.expect("graph")
        name = cursor.string("the name of the graph in quotes")
        buffers: list[GraphBuffer] = []
        while cursor.accept("buffer"):
            buffers.append(self._buffer())
        nodes: list[GraphNode] = []
        while cursor.accept("node"):
            nodes.append(self._node())
        if cursor.position < len(cursor.texts) - 1:
            raise cursor.unexpected("a buffer, a node or a program")
        return Graph.of(name, buffers, nodes)

    def _buffer(self) -> GraphBuffer:
        cursor = self._cursor
        name = cursor.string("the name of a buffer in quotes")
        cursor.expect(":")
        role = _ROLES.get(cursor.text)
        if role is None:
            raise cursor.unexpected("one of " + ", ".join(_ROLES))
        cursor.position += 1
        element = cursor.dtype()
        cursor.expect("[")
        count = 0 if cursor.text == "]" else cursor.integer("a number of elements")
        cursor.expect("]")
        return GraphBuffer(name, role, element, count, cursor.payload())

    def _node(self) -> GraphNode:
        cursor = self._cursor
        name = cursor.string("the name of a node in quotes")
        cursor.expect(":")
        cursor.expect("program")
        at = cursor.position
        number = cursor.integer("the number of a program")
        if not 0 <= number < len(self._programs):
            cursor.position = at
            raise cursor.unexpected(f"a number below {len(self._programs)}")
        grid = self._grid() if cursor.accept(",") else None
        cursor.expect("{")
        pairs: list[tuple[str, str]] = []
        while not cursor.accept("}"):
            own = cursor.string("the name of a buffer in quotes")
            cursor.expect("=")
            pairs.append((own, cursor.string("the name of a buffer in quotes")))
        return GraphNode(name, self._programs[number], tuple(pairs), grid)

    def _grid(self) -> Grid:
        cursor = self._cursor
        cursor.expect("grid")
        cursor.expect("(")
        x = cursor.integer("workgroups along x")
        cursor.expect(",")
        y = cursor.integer("workgroups along y")
        cursor.expect(",")
        z = cursor.integer("workgroups along z")
        cursor.expect(")")
        return (x, y, z)
