"""Alpha-renaming: rename variables such that no two bindings of a program share a name.

    { let a = 1 … } { let a = 2 … }   becomes   { let a = 1 … } { let a.1 = 2 … }

Scopes may reuse a name. Code that moves statements out of their scope (segments between grid
barriers, loop interchange) or maps names to facts needs unique ones.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.names import numbered_name
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr, walk_stmts


def with_unique_names(program: ir.Program) -> ir.Program:
    """Rename every binding whose name an earlier one has; the same object if there is none."""
    bound = [s.name if isinstance(s, ir.Let) else s.var for s in _binders(program)]
    if len(set(bound)) == len(bound):
        return program
    taken = set(bound)
    used: set[str] = set()
    return program.with_rewritten_entry(_Renamer(taken, used).body(program.entry, {}))


def _binders(program: ir.Program) -> list[ir.Let | ir.Loop]:
    return [s for s in walk_stmts(program.entry) if isinstance(s, (ir.Let, ir.Loop))]


class _Renamer:
    def __init__(self, taken: set[str], used: set[str]) -> None:
        self.taken = taken
        self.used = used

    def fresh(self, name: str) -> str:
        if name not in self.used:
            self.used.add(name)
            return name
        unused = numbered_name(name, self.taken, ".", first=1)
        self.taken.add(unused)
        self.used.add(unused)
        return unused

    def body(self, body: ir.Body, outer: dict[str, str]) -> ir.Body:
        names = dict(outer)
        return tuple(self.statement(statement, names) for statement in body)

    def statement(self, statement: ir.AnyStmt, names: dict[str, str]) -> ir.AnyStmt:
        def rename(expr: ir.AnyExpr) -> ir.AnyExpr:
            if isinstance(expr, ir.Var) and names[expr.name] != expr.name:
                return ir.Var(names[expr.name])
            return expr

        statement = map_exprs(statement, lambda child: rewrite_expr(child, rename))
        if isinstance(statement, ir.Assign):
            return rebuilt(statement, {"name": names[statement.name]})
        if isinstance(statement, ir.Let):
            names[statement.name] = self.fresh(statement.name)
            return rebuilt(statement, {"name": names[statement.name]})
        inner = names
        if isinstance(statement, ir.Loop):
            inner = {**names, statement.var: self.fresh(statement.var)}
            statement = rebuilt(statement, {"var": inner[statement.var]})
        return map_bodies(statement, lambda body: self.body(body, inner))
