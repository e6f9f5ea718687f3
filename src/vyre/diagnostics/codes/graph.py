"""P2##: a graph of programs is not one, or cannot be one program."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_HEAD = """\
import vyre as vy
from vyre.ir import DataType
from vyre.plan import Graph, GraphBuffer, GraphNode, Role

@vy.kernel
def double(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = 2.0 * x[i]

def buffer(name, role, element=DataType.F32, count=100):
    return GraphBuffer(name, role, element, count)

def node(name, grid=(2, 1, 1), **connections):
    return GraphNode.of(name, double.program(), connections, grid)

x, t, y = buffer("x", Role.INPUT), buffer("t", Role.SCRATCH), buffer("y", Role.OUTPUT)

"""

MALFORMED = Code(
    "P201",
    "graph that is none",
    "this is no graph: {problem}",
    "{fix}",
    example=_HEAD + "Graph.of('twice', [x, t, y], [])",
)
MISSING_BUFFER = Code(
    "P202",
    "node without one of its buffers",
    "the node {node!r} is not connected: {problem}",
    "connect what there is: {known}",
    example=_HEAD + "Graph.of('twice', [x, y], [node('first', y='t')])",
)
EDGE_TYPES = Code(
    "P203",
    "edge between different types",
    "in the node {node!r}, {own!r} is {first}, and {name!r} of the graph is {second}",
    "give both the same type and count, or put a program between them that converts",
    example=_HEAD
    + "u = buffer('u', Role.OUTPUT, DataType.U32)\n"
    + "Graph.of('twice', [x, u], [node('first', y='u')])",
)
WRITES_INPUT = Code(
    "P204",
    "node that writes what is only read",
    "the node {node!r} writes {name!r}, which the graph has as {role}",
    "make it inout, or write to scratch",
    example=_HEAD
    + "z = buffer('z', Role.INPUT)\nGraph.of('twice', [x, z], [node('first', y='z')])",
)
CONNECTED_TWICE = Code(
    "P205",
    "one buffer for two of a node",
    "the node {node!r} has {name!r} as {one!r} and as {two!r}, and writes it",
    "take another buffer of the graph for one of them",
    example=_HEAD + "Graph.of('twice', [t], [node('first', x='t', y='t')])",
)
NEVER_WRITTEN = Code(
    "P206",
    "buffer that no node writes",
    "{what} {name!r}, which no node writes",
    "write it in a node before, or make it an input",
    example=_HEAD + "Graph.of('twice', [t, y], [node('first', x='t')])",
)
TOO_EARLY = Code(
    "P207",
    "node before the one that it needs",
    "the node {node!r} reads {name!r}, which {writer!r} writes after it",
    "put {writer!r} before {node!r}",
    example=_HEAD + "Graph.of('twice', [x, t, y], [node('second', x='t'), node('first', y='t')])",
)
CYCLE = Code(
    "P208",
    "nodes that need each other",
    "the node {one!r} reads {name!r}, which {two!r} writes, and that needs what {one!r} writes",
    "break the cycle: a node of its own makes the first values of {name!r}, or the host gives them",
    example=_HEAD
    + "u = buffer('u', Role.SCRATCH)\n"
    + "nodes = [node('one', x='t', y='u'), node('two', x='u', y='t'), node('last', x='t')]\n"
    + "Graph.of('twice', [t, u, y], nodes)",
)
NOT_ONE_PROGRAM = Code(
    "P209",
    "graph that cannot be one program",
    "the graph {name!r} cannot be one program: {condition}",
    "run it as it is: each node is a launch",
    example=_HEAD
    + "nodes = [node('first', y='t'), node('second', (1, 1, 1), x='t')]\n"
    + "Graph.of('twice', [x, t, y], nodes).fuse()",
    explanation="The conditions L1 to L12 are those of the optimizer's specification.",
)
NO_HANDOFF = Code(
    "P210",
    "handoff that is none",
    "{name!r} hands nothing on: {problem}",
    "name a buffer that the decoder writes and the scanner reads",
    example=_HEAD
    + "from vyre.plan import fuse_decode_scan\n"
    + "fuse_decode_scan(double.program(), double.program(), 'x')",
)
BAD_INPUT = Code(
    "P211",
    "run of a graph without an array or a size",
    "{problem}",
    "{fix}",
    example=_HEAD + "Graph.of('once', [x, y], [node('first')]).run({})",
)
NO_GRAPH = Code(
    "P212",
    "call of a pipeline that is no graph",
    "this call of {name} has no graph: {problem}",
    "take the pipeline itself, or a part of it without decisions, on whole arrays",
    example="""\
import numpy as np
import vyre as vy

@vy.kernel
def double(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = 2.0 * x[i]

@vy.pipeline
def once(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    double(x, y)

once.graph(np.zeros(0, np.float32), np.zeros(0, np.float32))""",
)

CODES = (
    MALFORMED,
    MISSING_BUFFER,
    EDGE_TYPES,
    WRITES_INPUT,
    CONNECTED_TWICE,
    NEVER_WRITTEN,
    TOO_EARLY,
    CYCLE,
    NOT_ONE_PROGRAM,
    NO_HANDOFF,
    BAD_INPUT,
    NO_GRAPH,
)
