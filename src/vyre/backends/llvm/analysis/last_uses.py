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

    _leaves: set[ir.AnyStmt] = field(default_factory=set[ir.AnyStmt])
    _returns: set[ir.AnyStmt] = field(default_factory=set[ir.AnyStmt])
    _continues: set[ir.AnyStmt] = field(default_factory=set[ir.AnyStmt])
    _breaks: set[ir.AnyStmt] = field(default_factory=set[ir.AnyStmt])
    _ends: dict[ir.AnyStmt, int] = field(default_factory=dict[ir.AnyStmt, int])
    """Position at which a loop ends."""
    _outermost: dict[ir.AnyStmt, int] = field(default_factory=dict[ir.AnyStmt, int])
    """Position at which the outermost loop around a loop begins."""
    _last_read: dict[str, int] = field(default_factory=dict[str, int])
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

    def may_leave(self, statement: ir.AnyStmt) -> bool:
        """True if a statement contains a break, continue or return."""
        return bool(self._leaves) and statement in self._leaves

    def may_return(self, statement: ir.AnyStmt) -> bool:
        """True if a statement contains a return."""
        return bool(self._returns) and statement in self._returns

    def continues(self, loop: ir.AnyStmt) -> bool:
        """True if a loop has a continue of its own, not of an inner loop."""
        return bool(self._continues) and loop in self._continues

    def breaks(self, loop: ir.AnyStmt) -> bool:
        """True if a loop has a break of its own, not of an inner loop."""
        return bool(self._breaks) and loop in self._breaks

    def is_read_after(self, name: str, loop: ir.AnyStmt) -> bool:
        """True if a variable may be read after or on re-entry of a loop."""
        last = self._last_read.get(name, 0)
        return last > self._ends[loop] or last >= self._outermost.get(loop, last + 1)

    def _visit(self, statement: ir.AnyStmt) -> None:
        self._position += 1
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Var):
                self._last_read[node.name] = self._position
        if isinstance(statement, (ir.Break, ir.Continue, ir.Return)):
            self._exit(statement)
            return
        is_loop = isinstance(statement, (ir.Loop, ir.While))
        if is_loop:
            if not self._loops:
                self._first = self._position
            else:
                known = self._outermost.get(statement, self._first)
                self._outermost[statement] = min(known, self._first)
            self._loops.append(statement)
        for name in statement.body_fields:
            for inner in getattr(statement, name):
                self._visit(inner)
                if self.may_leave(inner):
                    self._leaves.add(statement)
                if self.may_return(inner):
                    self._returns.add(statement)
        if is_loop:
            self._loops.pop()
            # Equal loops may stand at several positions: the earliest end is the safe one.
            self._ends[statement] = min(self._ends.get(statement, self._position), self._position)

    def _exit(self, statement: ir.Break | ir.Continue | ir.Return) -> None:
        self._leaves.add(statement)
        if isinstance(statement, ir.Return):
            self._returns.add(statement)
        elif self._loops:
            exits = self._breaks if isinstance(statement, ir.Break) else self._continues
            exits.add(self._loops[-1])
