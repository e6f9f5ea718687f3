"""Names that nothing else has, and bodies moved to where their names would collide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from vyre import ir
from vyre.ir.walk import map_bodies, map_body, map_exprs, rebuilt, walk_stmts
from vyre.rewrite.substitute import renamed

_NUMBERED = re.compile(r"(.*?)_\d+")


class Names:
    """The names of a program: how often each is bound, and new ones."""

    def __init__(self, program: ir.Program) -> None:
        self.bindings: Counter[str] = Counter()
        """How many Lets and Loops bind each name."""
        for statement in walk_stmts(program.entry):
            if type(statement) is ir.Let:
                self.bindings[statement.name] += 1
            elif type(statement) is ir.Loop:
                self.bindings[statement.var] += 1
        self._taken = {*self.bindings, *(decl.name for decl in program.buffers)}
        self._next: dict[str, int] = {}

    def fresh(self, like: str) -> str:
        """A name that the program does not have, made from another one."""
        found = _NUMBERED.fullmatch(like)
        base = (found[1] if found else like)[:240]
        number = self._next.get(base, 1)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        name = f"{base}_{number}"
        self._taken.add(name)
        return name


def flattened(body: ir.Body, names: Names) -> ir.Body:
    """The statements of a scope of its own, fit to stand in the scope around it.

    What the body binds at its top becomes visible for longer; where the name is bound elsewhere
    too, it gets a new one. `names` then counts one binding fewer.
    """
    changes: dict[str, str] = {}
    for statement in body:
        if type(statement) is ir.Let and names.bindings[statement.name] > 1:
            changes[statement.name] = names.fresh(statement.name)
    for old, new in changes.items():
        names.bindings[old] -= 1
        names.bindings[new] += 1
    return rename_body(body, changes) if changes else body


def rename_body(body: ir.Body, changes: Mapping[str, str]) -> ir.Body:
    """The body with variables renamed where they are bound, assigned and read."""

    def one(statement: ir.AnyStmt) -> ir.AnyStmt:
        new = map_exprs(statement, lambda expr: renamed(expr, changes))
        if type(new) is ir.Let or type(new) is ir.Assign:
            if new.name in changes:
                new = rebuilt(new, {"name": changes[new.name]})
        elif type(new) is ir.Loop and new.var in changes:
            new = rebuilt(new, {"var": changes[new.var]})
        return map_bodies(new, lambda inner: map_body(inner, one)) if new.body_fields else new

    return map_body(body, one)
