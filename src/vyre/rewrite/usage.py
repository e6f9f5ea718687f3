"""Which variables statements read, remembered for as long as they are the same objects."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from vyre import ir
from vyre.ir.walk import expr_children


class Reads(NamedTuple):
    """What the expressions of one statement do, its bodies left out."""

    names: tuple[str, ...]
    """The variables they read, once per occurrence."""
    has_effects: bool


_NOTHING = Reads((), has_effects=False)


class Usage:
    """Answers by statement; statements that passes leave alone are not looked at again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.AnyStmt, Reads]] = {}

    def of(self, statement: ir.AnyStmt) -> Reads:
        """What the statement's own expressions read."""
        known = self._known.get(id(statement))
        if known is None:
            known = self._known[id(statement)] = (statement, _reads(statement))
        return known[1]


def _reads(statement: ir.AnyStmt) -> Reads:
    names: list[str] = []
    effects = False
    stack: list[ir.AnyExpr] = list(reversed(expr_children(statement)))
    while stack:
        expr = stack.pop()
        if type(expr) is ir.Var:
            names.append(expr.name)
        elif expr.depth > 1:
            effects = effects or type(expr) is ir.Atomic
            stack.extend(reversed(expr_children(expr)))
    return Reads(tuple(names), effects) if names or effects else _NOTHING


class Variables:
    """One walk over a program: who reads and assigns its variables."""

    def __init__(self, entry: ir.Body, usage: Usage) -> None:
        self.reads: Counter[str] = Counter()
        self.assigned: set[str] = set()
        self.binds = False
        """Whether there are any variables."""
        self.feeds: dict[str, list[str]] = {}
        """By variable: those that its values are computed from."""
        self.roots: list[str] = []
        """Variables on which an effect or the control flow depends."""
        self.may_overwrite = False
        """Whether some value may be assigned and never read; only liveness knows."""
        self._unread: set[str] = set()
        self._body(entry, usage)
        self.may_overwrite = self.may_overwrite or bool(self._unread)

    @staticmethod
    def of(program: ir.Program, usage: Usage) -> Variables:
        """Of one program object, counted once."""
        return program.memo(Variables, lambda p: Variables(p.entry, usage))

    def _body(self, body: ir.Body, usage: Usage) -> None:
        for statement in body:
            names, effects = usage.of(statement)
            if names:
                self._count(statement, names, effects)
            if type(statement) is ir.Assign:
                name = statement.name
                self.assigned.add(name)
                if name in self._unread:
                    self.may_overwrite = True
                self._unread.add(name)
            elif type(statement) is ir.Let:
                self.binds = True
            else:
                for field in statement.body_fields:
                    self._body(getattr(statement, field), usage)

    def _count(self, statement: ir.AnyStmt, names: tuple[str, ...], effects: bool) -> None:
        reads, unread = self.reads, self._unread
        for name in names:
            reads[name] += 1
            unread.discard(name)
        if not effects and (type(statement) is ir.Let or type(statement) is ir.Assign):
            self.feeds.setdefault(statement.name, []).extend(names)
        else:
            self.roots.extend(names)

    def wanted(self) -> set[str]:
        """The variables on which, directly or not, an effect or the control flow depends."""
        waiting = list(self.roots)
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.feeds.get(name, ()))
        return found
