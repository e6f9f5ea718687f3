"""Graphs as bytes: a canonical form, and a reader that accepts nothing else.

A head as that of programs, with a magic number of its own, around: the programs, each once and in
the order of their first use, as their own bytes; the buffers; the nodes. Texts are UTF-8 behind
their lengths, numbers have seven bits per byte. Time and memory of reading are in proportion to the
bytes, whatever they say.
"""

from __future__ import annotations

from vyre import ir
from vyre.diagnostics import PlanError, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Grid, Role
from vyre.signals import is_from_handler
from vyre.wire.envelope import HEAD_SIZE, failure, open_envelope, seal
from vyre.wire.varints import varint

MAGIC = b"\x89VYG\r\n\x1a\n"
_ROLES = tuple(Role)
_LONGEST_NUMBER = 10


def graph_to_wire(graph: Graph) -> bytes:
    """A graph as bytes. Equal graphs give equal bytes, on every machine."""
    programs = list(dict.fromkeys(node.program for node in graph.nodes))
    parts = [_text(graph.name), varint(len(programs))]
    parts += [_blob(program.to_wire()) for program in programs]
    parts.append(varint(len(graph.buffers)))
    for buffer in graph.buffers:
        parts += [_text(buffer.name), varint(_ROLES.index(buffer.role))]
        parts += [_text(str(buffer.element)), varint(buffer.count), _blob(buffer.data)]
    parts.append(varint(len(graph.nodes)))
    for node in graph.nodes:
        parts += [_text(node.name), varint(programs.index(node.program))]
        parts += [_grid_bytes(node.grid), varint(len(node.connections))]
        parts += [_text(own) + _text(name) for own, name in node.connections]
    return seal(b"".join(parts), MAGIC)


def _text(text: str) -> bytes:
    return _blob(text.encode())


def _blob(data: bytes) -> bytes:
    return varint(len(data)) + data


def _grid_bytes(grid: Grid | None) -> bytes:
    return varint(0) if grid is None else varint(1) + b"".join(map(varint, grid))


def graph_from_wire(data: bytes | bytearray | memoryview) -> Graph:
    """The graph that `data` holds; a `WireError` with an offset if it holds none."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise WireError(codes.NOT_BYTES.at(found=type(data).__name__))
    reader = _Reader(open_envelope(bytes(data), MAGIC))
    try:
        found = reader.graph()
    except PlanError as error:
        first = error.diagnostics[0]
        raise failure(
            codes.REFUSED, reader.offset, problem=first.message[:400], fix=first.fix
        ) from None
    if graph_to_wire(found) != bytes(data):
        problem = "the same graph is stored otherwise"
        raise failure(codes.NOT_CANONICAL, HEAD_SIZE, problem=problem)
    return found


class _Reader:
    """Takes numbers, texts and programs from bytes, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def offset(self) -> int:
        """Where it is in the whole file."""
        return HEAD_SIZE + self._at

    def graph(self) -> Graph:
        """Everything."""
        name = self._text()
        programs = [self._program() for _ in range(self._count())]
        buffers = [self._buffer() for _ in range(self._count())]
        nodes = [self._node(programs) for _ in range(self._count())]
        if self._at != len(self._data):
            raise self._wrong("there are bytes behind the last node")
        return Graph.of(name, buffers, nodes)

    def _program(self) -> ir.Program:
        start = self.offset
        try:
            return ir.Program.from_wire(self._blob())
        except WireError as error:
            first = error.diagnostics[0]
            raise failure(
                codes.REFUSED, start, problem=first.message[:400], fix=first.fix
            ) from None

    def _buffer(self) -> GraphBuffer:
        name = self._text()
        role = self._number()
        if role >= len(_ROLES):
            raise failure(codes.UNKNOWN_TAG, self.offset, tag=role)
        written = self._text()
        try:
            element = ir.DataType.parse(written)
        except ValueError as problem:
            if is_from_handler(problem):
                raise
            raise self._wrong(f"there is no type {written[:40]!r}") from None
        return GraphBuffer(name, _ROLES[role], element, self._number(), self._blob())

    def _node(self, programs: list[ir.Program]) -> GraphNode:
        name, number = self._text(), self._number()
        if number >= len(programs):
            raise self._wrong(f"there is no program {number}")
        has_grid = self._number()
        if has_grid > 1:
            raise failure(codes.UNKNOWN_TAG, self.offset, tag=has_grid)
        grid = (self._number(), self._number(), self._number()) if has_grid else None
        pairs = tuple((self._text(), self._text()) for _ in range(self._count()))
        return GraphNode(name, programs[number], pairs, grid)

    def _count(self) -> int:
        """Take how many there are; each takes a byte at least."""
        found = self._number()
        if found > len(self._data) - self._at:
            raise failure(codes.TRUNCATED, self.offset, what="a list")
        return found

    def _number(self) -> int:
        value = 0
        for position in range(_LONGEST_NUMBER):
            if self._at >= len(self._data):
                raise failure(codes.TRUNCATED, self.offset, what="a number")
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 127) << (7 * position)
            if byte < 128:
                return value
        raise self._wrong("a number has more than ten bytes")

    def _blob(self) -> bytes:
        size = self._number()
        found = self._data[self._at : self._at + size]
        if len(found) != size:
            raise failure(codes.TRUNCATED, self.offset, what="a text or a program")
        self._at += size
        return found

    def _text(self) -> str:
        try:
            return self._blob().decode()
        except UnicodeDecodeError:
            raise self._wrong("a text is not UTF-8") from None

    def _wrong(self, problem: str) -> WireError:
        return failure(codes.BAD_STRUCTURE, self.offset, problem=problem)
