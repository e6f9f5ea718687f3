"""Loop exits and last uses of variables, collected in one walk.

Positions number the statements in program order. A variable is dead after its last read, unless a
loop around that position executes an earlier read again (`is_read_after`), which errs towards live.
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.ir.walk import walk_own_exprs
from vyre.record import dataclass


@dataclass(slots=True)
class Flow:
    """Exits of statements, and positions of last reads."""

    leaves: set[int] = field(default_factory=set[int])
    """Statements that contain a break, continue or return."""
    returns: set[int] = field(default_factory=set[int])
    continues: set[int] = field(default_factory=set[int])
    """Loops with a continue of their own, not of an inner loop."""
    breaks: set[int] = field(default_factory=set[int])
    """Loops with a break of their own, not of an inner loop."""
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """Position at which a loop ends."""
    outermost: dict[int, int] = field(default_factory=dict[int, int])
    """Position at which the outermost loop around a loop begins."""
    last_read: dict[str, int] = field(default_factory=dict[str, int])
    _position: int = 0
    _loops: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    _first: int = 0

    @classmethod
    def of(cls, body: ir.Body) -> Flow:
        """Collect the facts about some statements."""
        flow = cls()
        for statement in body:
            flow._visit(statement)
        return flow

    def _visit(self, statement: ir.AnyStmt) -> None:
        self._position += 1
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Var):
                self.last_read[node.name] = self._position
        key = id(statement)
        if isinstance(statement, (ir.Break, ir.Continue, ir.Return)):
            self.leaves.add(key)
            if isinstance(statement, ir.Return):
                self.returns.add(key)
            elif self._loops:
                exits = self.breaks if isinstance(statement, ir.Break) else self.continues
                exits.add(id(self._loops[-1]))
            return
        is_loop = isinstance(statement, (ir.Loop, ir.While))
        if is_loop:
            if not self._loops:
                self._first = self._position
            else:
                self.outermost[key] = min(self.outermost.get(key, self._first), self._first)
            self._loops.append(statement)
        for name in statement.body_fields:
            for inner in getattr(statement, name):
                self._visit(inner)
                self.leaves.update((key,) if id(inner) in self.leaves else ())
                self.returns.update((key,) if id(inner) in self.returns else ())
        if is_loop:
            self._loops.pop()
            # One object may occur at several positions: the earliest end is the safe one.
            self.ends[key] = min(self.ends.get(key, self._position), self._position)

    def is_read_after(self, name: str, loop: ir.AnyStmt) -> bool:
        """True if a variable may be read after or on re-entry of a loop."""
        last = self.last_read.get(name, 0)
        return last > self.ends[id(loop)] or last >= self.outermost.get(id(loop), last + 1)
