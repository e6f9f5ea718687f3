"""Unique names: every variable of a program under a name of its own.

Scopes may reuse a name; once a program is cut into segments, variables outlive their scopes and
must not meet a namesake.
"""

from __future__ import annotations

from vyre.ir import AnyExpr, AnyStmt, Assign, Body, Let, Loop, Program, Var
from vyre.ir.walk import map_bodies, map_exprs, rebuilt, rewrite_expr, walk_stmts


def with_unique_names(program: Program) -> Program:
    """The program with each variable renamed that shares its name with another."""
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
        number = 1
        while f"{name}.{number}" in self.taken:
            number += 1
        made = f"{name}.{number}"
        self.taken.add(made)
        self.used.add(made)
        return made

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
