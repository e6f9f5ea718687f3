"""Effects that depend on the number of workgroups (grid-stride loops do not).

A kernel that asks for `vy.num_groups()` shares its work among them, and what an invocation adds up
or counts differs with their number. Only in a loop over all that the grid shares, `for i in
range(vy.gid(), len(x), vy.num_groups() * SIZE)`, every `i` has its turn whatever that number is.
Which invocation has it differs, so that what depends on its id there depends on the number, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vyre import ir
from vyre.ir.walk import (
    declared_names,
    expr_children,
    walk_all_exprs,
    walk_expr,
    walk_own_exprs,
    walk_stmts,
)
from vyre.record import dataclass
from vyre.semantics.atomics import is_atomic_load


@dataclass(frozen=True, slots=True)
class Stride:
    """A loop over all that the grid shares along an axis."""

    counter: str
    """The variable that counts."""
    axis: int


Strides = Mapping[int, Stride]
"""By the identity of loops."""
_Source = Callable[[ir.AnyExpr], bool]


def dependent_effects(program: ir.Program, strides: Strides) -> frozenset[int]:
    """The identities of stores and atomics that depend on the number of workgroups."""
    own: dict[int, _Spread] = {}
    for axis in {stride.axis for stride in strides.values()}:
        own[axis] = _spread(_Spread(program, _asks_for_id(axis), strides, {}))
    found = _spread(_Spread(program, _asks_for_groups, strides, own))
    return frozenset(found.effects)


def _asks_for_groups(node: ir.AnyExpr) -> bool:
    return isinstance(node, ir.Builtin) and node.kind is ir.BuiltinKind.NUM_WORKGROUPS


def _asks_for_id(axis: int) -> _Source:
    """Whether an expression differs among invocations along an axis."""
    talking = (ir.Ballot, ir.Shuffle, ir.SubgroupReduce)
    lanes = (ir.BuiltinKind.SUBGROUP_LANE, ir.BuiltinKind.SUBGROUP_SIZE)
    ids = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.WORKGROUP_ID, ir.BuiltinKind.LOCAL_ID)

    def asks(node: ir.AnyExpr) -> bool:
        if isinstance(node, ir.Builtin):
            return node.kind in lanes or (node.kind in ids and node.axis == axis)
        return isinstance(node, talking)

    return asks


def _spread(spread: _Spread) -> _Spread:
    """Go through a kernel until nothing more depends."""
    known = -1
    while known < spread.size:
        known = spread.size
        spread.begin()
    return spread


class _Spread:
    """Spreads a dependence through variables, memory and control flow."""

    def __init__(
        self, program: ir.Program, source: _Source, strides: Strides, own: Mapping[int, _Spread]
    ) -> None:
        self.effects: set[int] = set()
        self._entry = program.entry
        self._source = source
        self._strides = strides
        self._own = own
        """What depends on the ids along axes; empty where that is what is looked for."""
        self._names: set[str] = set()
        self._buffers: set[str] = set()
        self._loops: set[int] = set()
        """Loops that are left, or go on, by what depends."""
        self._around: list[ir.Loop | ir.While] = []
        self._turns: list[int] = []
        """The axes along which the loops around give every number its turn."""
        self._counters = {stride.counter for stride in strides.values()}
        self._on_chip = {decl.name for decl in program.buffers if decl.is_on_chip}
        self._left = False
        """Whether some invocations have ended, by what depends."""
        self.chosen: set[int] = set()
        """Loops that some invocations come to and others do not, by what depends."""

    @property
    def size(self) -> int:
        """How much depends, as far as that is known."""
        return len(self.effects) + len(self._names) + len(self._buffers) + len(self._loops)

    def begin(self) -> None:
        """Go through the kernel once."""
        self._left = False
        self._visit(self._entry, depends=False)

    def holds(self, node: ir.AnyExpr) -> bool:
        """Whether one node of an expression depends."""
        match node:
            case ir.Var(name):
                return name in self._names
            case ir.Load(buffer) | ir.Atomic(_, buffer):
                return buffer in self._buffers
            case _:
                return self._source(node)

    def _depends(self, expr: ir.AnyExpr) -> bool:
        turns = [self._own[axis] for axis in self._turns]
        for node in walk_expr(expr):
            if self.holds(node) or any(own.holds(node) for own in turns):
                return True
        return False

    def _visit(self, body: ir.Body, *, depends: bool) -> None:
        """Look at statements that run, or not, by what depends."""
        for statement in body:
            self._statement(statement, depends or self._left)

    def _statement(self, statement: ir.AnyStmt, depends: bool) -> None:
        self._accesses(statement, depends)
        match statement:
            case ir.Let(name, value) | ir.Assign(name, value):
                if name not in self._counters and (depends or self._depends(value)):
                    self._names.add(name)
            case ir.Block(inner) | ir.Region(_, _, inner):
                self._visit(inner, depends=depends)
            case ir.If(cond, then, otherwise):
                inside = depends or self._depends(cond)
                self._visit(then, depends=inside)
                self._visit(otherwise, depends=inside)
            case ir.Loop() | ir.While():
                self._loop(statement, depends)
            case ir.Return() if depends:
                self._left = True
            case ir.Break() | ir.Continue() if depends and self._around:
                self._loops.add(id(self._around[-1]))
            case _:
                pass

    def _loop(self, loop: ir.Loop | ir.While, depends: bool) -> None:
        if depends:
            self.chosen.add(id(loop))
        stride = self._strides.get(id(loop))
        in_turn = stride is not None and not depends and self._has_turns(loop, stride)
        inside = depends or id(loop) in self._loops
        if stride is not None and not in_turn:
            self._counters.discard(stride.counter)
        if in_turn:
            self._carry(loop)
        elif any(self._depends(child) for child in expr_children(loop)):
            inside = True
        if isinstance(loop, ir.Loop) and (in_turn or inside):
            self._names.add(loop.var)
        self._around.append(loop)
        turning = stride is not None and in_turn and stride.axis in self._own
        if stride is not None and turning:
            self._turns.append(stride.axis)
        self._visit(loop.body, depends=inside)
        if turning:
            self._turns.pop()
        self._around.pop()

    def _has_turns(self, loop: ir.Loop | ir.While, stride: Stride) -> bool:
        """Whether every number that a loop counts has its turn in some invocation."""
        own = self._own.get(stride.axis)
        if id(loop) in self._loops or (own is not None and id(loop) in own.chosen):
            return False
        return not any(isinstance(s, (ir.Break, ir.Return)) for s in walk_stmts(loop.body))

    def _carry(self, loop: ir.Loop | ir.While) -> None:
        """What goes from one turn to the next depends on which turns an invocation has."""
        inside = declared_names(loop.body)
        for statement in walk_stmts(loop.body):
            if isinstance(statement, ir.Assign) and statement.name not in inside | self._counters:
                self._names.add(statement.name)
        self._buffers |= self._on_chip & _written(loop.body)

    def _accesses(self, statement: ir.AnyStmt, depends: bool) -> None:
        """Stores, copies and atomics of a statement."""
        if isinstance(statement, (ir.Store, ir.AsyncStore, ir.AsyncLoad)):
            copied = not isinstance(statement, ir.Store) and statement.source in self._buffers
            if depends or copied or any(map(self._depends, expr_children(statement))):
                into = isinstance(statement, ir.Store)
                self._buffers.add(statement.buffer if into else statement.destination)
                self.effects.add(id(statement))
        for node in walk_own_exprs(statement):
            if not isinstance(node, ir.Atomic) or is_atomic_load(node):
                continue
            if depends or any(map(self._depends, expr_children(node))):
                self._buffers.add(node.buffer)
                self.effects.add(id(node))


def _written(body: ir.Body) -> set[str]:
    """The buffers that statements write."""
    stored = {s.buffer for s in walk_stmts(body) if isinstance(s, ir.Store)}
    copied = {
        s.destination for s in walk_stmts(body) if isinstance(s, (ir.AsyncLoad, ir.AsyncStore))
    }
    changed = {n.buffer for n in walk_all_exprs(body) if isinstance(n, ir.Atomic)}
    return stored | copied | changed


__all__ = ["Stride", "Strides", "dependent_effects"]
