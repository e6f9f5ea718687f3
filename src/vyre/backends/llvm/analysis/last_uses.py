"""Facts about statements that emission asks for again and again, gathered in one walk."""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.ir.walk import expr_children, walk_expr
from vyre.record import dataclass


@dataclass(slots=True)
class Flow:
    """Which statements may leave loops or the kernel, and where variables are read last."""

    leaves: set[int] = field(default_factory=set[int])
    """Statements with a break, continue or return somewhere in them."""
    returns: set[int] = field(default_factory=set[int])
    continues: set[int] = field(default_factory=set[int])
    """Loops that one of their own statements continues."""
    breaks: set[int] = field(default_factory=set[int])
    """Loops that one of their own statements breaks."""
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """Where the text of a loop ends."""
    outermost: dict[int, int] = field(default_factory=dict[int, int])
    """Where the outermost loop around a loop begins."""
    last_read: dict[str, int] = field(default_factory=dict[str, int])
    _position: int = 0
    _loops: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])
    _first: int = 0

    @classmethod
    def of(cls, body: ir.Body) -> Flow:
        """The facts about some statements."""
        made = cls()
        for statement in body:
            made._visit(statement)
        return made

    def _visit(self, statement: ir.AnyStmt) -> None:
        self._position += 1
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, ir.Var):
                    self.last_read[node.name] = self._position
        key = id(statement)
        if isinstance(statement, (ir.Break, ir.Continue, ir.Return)):
            self.leaves.add(key)
            if isinstance(statement, ir.Return):
                self.returns.add(key)
            elif self._loops:
                found = self.breaks if isinstance(statement, ir.Break) else self.continues
                found.add(id(self._loops[-1]))
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
            # One object may stand in several places: the earliest end is the safe one.
            self.ends[key] = min(self.ends.get(key, self._position), self._position)

    def is_read_after(self, name: str, loop: ir.AnyStmt) -> bool:
        """Whether a variable may be read once a loop is over, or by its next run."""
        last = self.last_read.get(name, 0)
        return last > self.ends[id(loop)] or last >= self.outermost.get(id(loop), last + 1)
