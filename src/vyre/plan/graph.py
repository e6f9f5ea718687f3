"""A graph of programs: nodes are programs, edges are the buffers that they share.

Its meaning: the programs run one after another in their order, each on its own grid; scratch and
outputs of the graph begin as zeros, and what a program declares as its output is zero when its node
begins. A graph is a frozen value, equal by structure, in text and in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from vyre import ir
from vyre.ir import late_binding as late
from vyre.plan import graph_checks
from vyre.record import dataclass

Grid = tuple[int, int, int]


class Role(Enum):
    """Where a buffer of a graph comes from, and whether the host gets it."""

    INPUT = "input"
    """The host gives it, and no node writes it."""
    INOUT = "inout"
    """The host gives it and gets it back."""
    OUTPUT = "output"
    """It begins as zeros, and the host gets it."""
    SCRATCH = "scratch"
    """It begins as zeros, and lives as long as a run."""
    CONSTANT = "constant"
    """Its bytes are part of the graph."""


@dataclass(frozen=True, slots=True)
class GraphBuffer:
    """An edge of a graph; `count` is 0 if its length is that of the array given to a run."""

    name: str
    role: Role
    element: ir.DataType
    count: int = 0
    data: bytes = b""
    """Of a constant, as numpy holds it, lowest byte first."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A program, the buffers of the graph that it has, and its grid."""

    name: str
    program: ir.Program
    connections: tuple[tuple[str, str], ...]
    """The program's buffers that have bindings, in their order, each with one of the graph."""
    grid: Grid | None = None
    """In workgroups; None for one that covers the longest buffer that the program writes."""

    @classmethod
    def of(
        cls,
        name: str,
        program: ir.Program,
        connections: Mapping[str, str] | None = None,
        grid: Grid | None = None,
    ) -> GraphNode:
        """A node whose buffers have their own names in the graph, except as `connections` says."""
        given = dict(connections or {})
        bound = [decl.name for decl in program.buffers if decl.binding is not None]
        pairs = [(each, given.pop(each, each)) for each in bound]
        # What the program does not have is kept, so that the graph can refuse it by name.
        return cls(name, program, (*pairs, *given.items()), grid)


@dataclass(frozen=True, slots=True)
class Graph:
    """Programs and the buffers between them; a `PlanError` says what is wrong with one."""

    name: str
    buffers: tuple[GraphBuffer, ...]
    nodes: tuple[GraphNode, ...]

    def __post_init__(self) -> None:
        graph_checks.check(self)

    @classmethod
    def of(cls, name: str, buffers: Iterable[GraphBuffer], nodes: Iterable[GraphNode]) -> Graph:
        """A graph of buffers and nodes in their order."""
        return cls(name, tuple(buffers), tuple(nodes))

    def buffer(self, name: str) -> GraphBuffer | None:
        """The buffer of a name."""
        return next((each for each in self.buffers if each.name == name), None)

    def __str__(self) -> str:
        from vyre.plan.graph_text import graph_text

        return graph_text(self)

    @classmethod
    def parse(cls, source: str, file: str = "<text>") -> Graph:
        """The graph that a text writes; a `ParseError` if it cannot be read."""
        from vyre.plan.graph_text import parse_graph

        return parse_graph(source, file)

    def to_wire(self) -> bytes:
        """The graph as bytes, in canonical form."""
        from vyre.plan.graph_wire import graph_to_wire

        return graph_to_wire(self)

    @classmethod
    def from_wire(cls, data: bytes) -> Graph:
        """The graph that `data` holds; a `WireError` if it holds none."""
        from vyre.plan.graph_wire import graph_from_wire

        return graph_from_wire(data)

    def fuse(self) -> ir.Program:
        """Join all nodes to one program; a `PlanError` names the condition that fails.

        It runs on the grid that they share, on buffers of the graph's names. Scratch at the own
        elements of invocations becomes values of theirs.
        """
        from vyre.plan.graph_fuse import fuse_graph

        return fuse_graph(self)

    def run(
        self,
        inputs: Mapping[str, object] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        device: str | None = None,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        """Run the nodes one after another; gives the buffers that the host gets, by name.

        `sizes` are lengths of outputs and scratch whose count is not part of the graph.
        """
        return late.run_graph(self, inputs or {}, sizes or {}, device, deadline)
