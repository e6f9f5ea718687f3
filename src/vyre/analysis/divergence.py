"""The inequalities behind uniformity: one walk of a program makes a graph, reachability solves it.

A node of the graph stands for a variable, a condition, a body, or the set of invocations that have
left. An edge says that its end is at least as divergent as its beginning. All rules are maxima, so
the least solution is found by spreading each level along the edges, the most divergent level first.
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.analysis.agreement_levels import LeafLevels, Level
from vyre.analysis.settled_memory import Buffers, settled_in
from vyre.ir.walk import expr_children, walk_stmts
from vyre.record import dataclass

_NO_BUFFERS: Buffers = frozenset()


@dataclass(slots=True)
class Graph:
    """Nodes with levels, and edges that spread them."""

    level: list[int] = field(default_factory=lambda: [0])
    """By node. Node 0 is what the whole grid agrees on."""
    source: list[int] = field(default_factory=lambda: [-1])
    """From where a node got its level; -1 when it began there."""
    leaf: dict[int, ir.AnyExpr] = field(default_factory=dict[int, ir.AnyExpr])
    """The expression that gave a node its first level."""
    targets: list[list[int]] = field(default_factory=lambda: [[]])

    def node(self) -> int:
        """A new node on which the whole grid agrees so far."""
        self.level.append(0)
        self.source.append(-1)
        self.targets.append([])
        return len(self.level) - 1

    def edge(self, start: int, end: int) -> None:
        """Make `end` at least as divergent as `start`."""
        if start:
            self.targets[start].append(end)

    def raise_to(self, node: int, level: int, leaf: ir.AnyExpr) -> None:
        """Make a node at least as divergent as `level`, because of `leaf`."""
        if level > self.level[node]:
            self.level[node] = level
            self.leaf[node] = leaf

    def solve(self) -> None:
        """Spread all levels."""
        level, source, targets = self.level, self.source, self.targets
        for current in (Level.DIVERGENT, Level.SUBGROUP, Level.WORKGROUP):
            pending = [node for node, found in enumerate(level) if found == current]
            while pending:
                node = pending.pop()
                for target in targets[node]:
                    if level[target] < current:
                        level[target] = current
                        source[target] = node
                        pending.append(target)


@dataclass(slots=True)
class Frame:
    """A condition or loop around the place where the walk stands."""

    condition: int
    is_loop: bool
    continued: int = 0
    """In a loop: who has gone on with the next round before this place."""


@dataclass(slots=True)
class Builder:
    """Walks a program and writes down what depends on what, by the positions of statements."""

    program: ir.Program
    leaves: LeafLevels
    graph: Graph = field(default_factory=Graph)
    controls: list[int] = field(default_factory=list[int])
    """By position: the body node under which the statement runs."""
    returns: list[int] = field(default_factory=list[int])
    """By position: who may have returned before it."""
    rounds: dict[int, int] = field(default_factory=dict[int, int])
    """By position of a loop: the body node of a round's beginning."""
    operands: dict[int, int] = field(default_factory=dict[int, int])
    """By position of an async copy: its operands."""
    variables: dict[int, int] = field(default_factory=dict[int, int])
    """By position of a Let or Loop: the variable it binds."""
    settled: dict[int, Buffers] = field(default_factory=dict[int, Buffers])
    """By position of a Let or Assign: workgroup buffers that nothing writes around it."""
    scopes: dict[str, list[tuple[int, int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int, int]]]
    )
    """By name: first position, end and variable of each binding."""
    conditions: dict[int, int] = field(default_factory=dict[int, int])
    """By node of a condition: the position of its If, Loop or While."""
    bodies: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """By node of a body: the body around it, and its own condition or leavers; also two joined
    groups of leavers."""
    leavers: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """By node of leavers: the position where they leave, and who left before."""
    _visible: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    _frames: list[Frame] = field(default_factory=list[Frame])
    _returned: int = 0
    _has_grid_sync: bool = False
    _agreed_on: Buffers = frozenset()
    """Workgroup buffers of which all that load an element get the same value here."""
    _trusts_memory: bool = False
    """Whether a load at an index that the grid agrees on counts as agreed on.

    So it is for the bounds and conditions of loops around a grid barrier: between two of those, no
    element may be both written and read by all without a race, and the loop is run by the host.
    """

    def run(self) -> None:
        """Build the graph and solve it."""
        self._has_grid_sync = _holds_grid_sync(self.program.entry)
        self._body(self.program.entry, 0)
        self.graph.solve()

    def _body(self, body: ir.Body, control: int) -> None:
        bound: list[tuple[str, int]] = []
        controls, returns = self.controls, self.returns
        settled = settled_in(body, self.leaves.settling_buffers)
        for place, statement in enumerate(body):
            position = len(controls)
            controls.append(control)
            returns.append(self._returned)
            if place in settled and isinstance(statement, (ir.Let, ir.Assign)):
                self.settled[position] = settled[place]
            if isinstance(statement, ir.Let):
                bound.append((statement.name, position))
                self._let(statement, position)
            elif isinstance(statement, ir.Assign):
                self._assign(statement, position)
            elif type(statement) in _NESTED:
                control = self._nested(statement, position, control)
        for name, position in bound:
            self._unbind(name, position)

    def _nested(self, statement: ir.AnyStmt, position: int, control: int) -> int:
        """Go through a statement that holds others or leaves; gives the control that follows."""
        loop = self._innermost_loop()
        before = loop.continued if loop is not None else 0
        match statement:
            case ir.If():
                self._if(statement, position, control)
            case ir.Loop() | ir.While():
                self._loop(statement, position, control)
            case ir.Break():
                self._break()
            case ir.Continue():
                self._continue(position)
            case ir.Return():
                self._returned = self._leave(position, self._returned, [control])
            case ir.AsyncLoad() | ir.AsyncStore():
                self._async(statement, position)
            case _:
                for name in statement.body_fields:
                    self._body(getattr(statement, name), control)
        if loop is not None and loop.continued != before:
            return self._join(control, loop.continued)
        return control

    def _let(self, statement: ir.Let, position: int) -> None:
        node = self.graph.node()
        self._give(statement.value, position, node)
        self._bind(statement.name, position, node)

    def _give(self, value: ir.AnyExpr, position: int, node: int) -> None:
        self._agreed_on = self.settled.get(position, _NO_BUFFERS)
        self._feed(value, node)
        self._agreed_on = _NO_BUFFERS

    def _assign(self, statement: ir.Assign, position: int) -> None:
        known = self._visible.get(statement.name)
        if known is None:
            return
        node, depth = known
        self._give(statement.value, position, node)
        for frame in self._frames[depth:]:
            self.graph.edge(frame.condition, node)
            self.graph.edge(frame.continued, node)

    def _if(self, statement: ir.If, position: int, control: int) -> None:
        condition = self._condition(position)
        self._feed(statement.cond, condition)
        self._frames.append(Frame(condition, is_loop=False))
        inner = self._join(control, condition)
        loop = self._innermost_loop() or Frame(0, is_loop=True)
        # Who leaves in one arm is not missing in the other, but after the if all are.
        continued, returned = loop.continued, self._returned
        self._body(statement.then, inner)
        if statement.otherwise:
            after_then = loop.continued, self._returned
            loop.continued, self._returned = continued, returned
            self._body(statement.otherwise, inner)
            loop.continued = self._either(continued, after_then[0], loop.continued)
            self._returned = self._either(returned, after_then[1], self._returned)
        self._frames.pop()

    def _either(self, before: int, first: int, second: int) -> int:
        if second == before:
            return first
        return second if first == before else self._join(first, second)

    def _loop(self, statement: ir.Loop | ir.While, position: int, control: int) -> None:
        condition = self._condition(position)
        self._trusts_memory = self._has_grid_sync and _holds_grid_sync(statement.body)
        if isinstance(statement, ir.Loop):
            variable = self.graph.node()
            self._feed(statement.start, variable)
            self._feed(statement.start, condition)
            self._feed(statement.stop, condition)
            self._bind(statement.var, position, variable, inside=1)
        else:
            self._feed(statement.cond, condition)
        self._trusts_memory = False
        self._frames.append(Frame(condition, is_loop=True))
        self.rounds[position] = inner = self._join(control, condition)
        returned = self._returned
        self._body(statement.body, inner)
        self._frames.pop()
        if isinstance(statement, ir.Loop):
            self._unbind(statement.var, position)
        if self._returned != returned:
            # Who returns in one round is missing in the next.
            first, end = position + 1, len(self.returns)
            self.returns[first:end] = [self._returned] * (end - first)

    def _break(self) -> None:
        inside = self._frames_of_loop()
        if not inside:
            return
        loop = inside[0]
        for frame in inside[1:]:
            self.graph.edge(frame.condition, loop.condition)
        self.graph.edge(loop.continued, loop.condition)

    def _continue(self, position: int) -> None:
        inside = self._frames_of_loop()
        if inside:
            loop = inside[0]
            conditions = [frame.condition for frame in inside[1:]]
            loop.continued = self._leave(position, loop.continued, conditions)

    def _async(self, statement: ir.AsyncLoad | ir.AsyncStore, position: int) -> None:
        self.operands[position] = node = self.graph.node()
        for operand in expr_children(statement):
            self._feed(operand, node)

    def _condition(self, position: int) -> int:
        node = self.graph.node()
        self.conditions[node] = position
        return node

    def _leave(self, position: int, before: int, reasons: list[int]) -> int:
        node = self.graph.node()
        self.leavers[node] = (position, before)
        self.graph.edge(before, node)
        for reason in reasons:
            self.graph.edge(reason, node)
        return node

    def _join(self, outer: int, own: int) -> int:
        node = self.graph.node()
        self.bodies[node] = (outer, own)
        self.graph.edge(outer, node)
        self.graph.edge(own, node)
        return node

    def _innermost_loop(self) -> Frame | None:
        for frame in reversed(self._frames):
            if frame.is_loop:
                return frame
        return None

    def _frames_of_loop(self) -> list[Frame]:
        """The innermost loop and the conditions inside it."""
        for index in range(len(self._frames) - 1, -1, -1):
            if self._frames[index].is_loop:
                return self._frames[index:]
        return []

    def _bind(self, name: str, position: int, node: int, inside: int = 0) -> None:
        self.variables[position] = node
        self._visible[name] = (node, len(self._frames) + inside)

    def _unbind(self, name: str, position: int) -> None:
        span = (position, len(self.controls), self.variables[position])
        self.scopes.setdefault(name, []).append(span)
        self._visible.pop(name, None)

    def _is_agreed(self, buffer: str) -> bool:
        """Whether invocations that load the same element get the same value."""
        if buffer in self.leaves.constant_buffers:
            return True
        if not self._trusts_memory:
            return False
        decl = self.program.buffer(buffer)
        return decl is not None and not decl.is_on_chip

    def _feed_load(self, load: ir.Load, node: int) -> None:
        if self._is_agreed(load.buffer):
            self._feed(load.index, node)
        elif load.buffer in self._agreed_on:
            self.graph.raise_to(node, Level.WORKGROUP, load)
            self._feed(load.index, node)
        else:
            self.graph.raise_to(node, self.leaves.worst, load)

    def _feed(self, expr: ir.AnyExpr, node: int) -> None:
        """Make `node` at least as divergent as `expr`."""
        graph = self.graph
        if graph.level[node] == Level.DIVERGENT:
            return
        if isinstance(expr, ir.Var):
            known = self._visible.get(expr.name)
            if known is not None:
                graph.edge(known[0], node)
        elif isinstance(expr, ir.Binary):
            self._feed(expr.left, node)
            self._feed(expr.right, node)
        elif isinstance(expr, ir.Builtin):
            graph.raise_to(node, self.leaves.builtins[expr.kind, expr.axis], expr)
        elif isinstance(expr, ir.Load):
            self._feed_load(expr, node)
        elif isinstance(expr, ir.Atomic):
            graph.raise_to(node, self.leaves.worst, expr)
        elif isinstance(expr, (ir.Ballot, ir.SubgroupReduce)):
            graph.raise_to(node, self.leaves.subgroup, expr)
        elif isinstance(expr, ir.Shuffle):
            graph.raise_to(node, self.leaves.subgroup, expr)
            _, lane = expr_children(expr)
            self._feed(lane, node)
        elif expr.depth > 1:
            for child in expr_children(expr):
                self._feed(child, node)


def _holds_grid_sync(body: ir.Body) -> bool:
    return any(
        isinstance(inner, ir.Barrier) and inner.ordering is ir.MemoryOrdering.GRID_SYNC
        for inner in walk_stmts(body)
    )


_NESTED = frozenset(
    {
        ir.If,
        ir.Loop,
        ir.While,
        ir.Break,
        ir.Continue,
        ir.Return,
        ir.AsyncLoad,
        ir.AsyncStore,
        ir.Block,
        ir.Region,
    }
)
"""Statements that hold others, leave, or take operands that must agree."""
