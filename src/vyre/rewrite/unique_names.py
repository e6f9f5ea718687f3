"""Alpha-renaming: rename variables such that no two bindings of a program share a name.

    { let a = 1 … } { let a = 2 … }   becomes   { let a = 1 … } { let a.1 = 2 … }

Scopes may reuse a name. Code that moves statements out of their scope (segments between grid
barriers, loop interchange) or maps names to facts needs unique ones.
"""

from __future__ import annotations

from vyre.ir import AnyExpr, AnyStmt, Assign, Body, Let, Loop, Program, Var
from vyre.ir.names import numbered_name
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr, walk_stmts


def with_unique_names(program: Program) -> Program:
    """Rename every binding whose name an earlier one has; the same object if there is none."""
    bound = [s.name if isinstance(s, Let) else s.var for s in _binders(program)]
    if len(set(bound)) == len(bound):
        return program
    taken = set(bound)
    used: set[str] = set()
    return program.with_rewritten_entry(_Renamer(taken, used).body(program.entry, {}))


def _binders(program: Program) -> list[Let | Loop]:
    return [s for s in walk_stmts(program.entry) if isinstance(s, (Let, Loop))]


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

    def body(self, body: Body, outer: dict[str, str]) -> Body:
        names = dict(outer)
        return tuple(self.statement(statement, names) for statement in body)

    def statement(self, statement: AnyStmt, names: dict[str, str]) -> AnyStmt:
        def rename(expr: AnyExpr) -> AnyExpr:
            if isinstance(expr, Var) and names[expr.name] != expr.name:
                return Var(names[expr.name])
            return expr

        statement = map_exprs(statement, lambda child: rewrite_expr(child, rename))
        if isinstance(statement, Assign):
            return rebuilt(statement, {"name": names[statement.name]})
        if isinstance(statement, Let):
            names[statement.name] = self.fresh(statement.name)
            return rebuilt(statement, {"name": names[statement.name]})
        inner = names
        if isinstance(statement, Loop):
            inner = {**names, statement.var: self.fresh(statement.var)}
            statement = rebuilt(statement, {"var": inner[statement.var]})
        return map_bodies(statement, lambda body: self.body(body, inner))
