"""One variable per use: a name that a body binds and assigns stands for several variables."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import map_bodies, map_exprs, rebuilt
from vyre.rewrite.bodies import edited
from vyre.rewrite.names import Names
from vyre.rewrite.substitute import renamed


class Splitting:
    """Walks in the order of execution, with the name that each variable has now.

    From an assignment in the very body that bound the variable to the end of that body, where the
    variable ends, every way comes by the assignment: whatever reads or assigns the variable later
    means the new one.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._now: dict[str, str] = {}
        """The names of variables that have others than they were bound with."""
        self._bound: set[str] = set()
        """Variables of the body that is being walked."""
        self.rewrites = 0

    def body(self, body: ir.Body) -> ir.Body:
        """The body with a new variable bound by each such assignment."""
        outer_now, outer_bound = self._now, self._bound
        self._now, self._bound = dict(outer_now), set()
        new = edited(body, self._statement)
        self._now, self._bound = outer_now, outer_bound
        return new

    def _statement(self, statement: ir.AnyStmt) -> ir.AnyStmt:
        now = self._now
        new = map_exprs(statement, lambda expr: renamed(expr, now)) if now else statement
        if type(new) is ir.Let:
            self._bound.add(new.name)
            now.pop(new.name, None)
        elif type(new) is ir.Assign:
            return self._assign(new)
        return map_bodies(new, self.body) if new.body_fields else new

    def _assign(self, statement: ir.Assign) -> ir.AnyStmt:
        name = statement.name
        if name in self._bound:
            self.rewrites += 1
            new = self._now[name] = self._names.fresh(name)
            return ir.Let(new, statement.value).at(statement.span)
        new = self._now.get(name)
        return statement if new is None else rebuilt(statement, {"name": new})


__all__ = ["Splitting"]
