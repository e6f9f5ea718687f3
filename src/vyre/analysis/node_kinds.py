"""Which kinds of nodes a program has: one walk that answers what many passes ask first.

kinds = NodeKinds.of(program)
kinds.have(ir.Return)                      # True if the program returns somewhere
kinds.axes(ir.BuiltinKind.GLOBAL_ID)       # {0, 1}: it reads ids along x and y
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.ir.node import Tree
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class NodeKinds:
    """The classes of a program's nodes, and its builtins."""

    statements: frozenset[type[Tree]]
    expressions: frozenset[type[Tree]]
    builtins: Mapping[ir.BuiltinKind, frozenset[int]]
    """The axes along which each kind of builtin is read."""

    @classmethod
    def of(cls, program: ir.Program) -> NodeKinds:
        """The kinds of a program's nodes, collected once."""
        return program.memo(cls, _collect)

    def have(self, *classes: type[Tree]) -> bool:
        """True if the program has a node of one of some classes."""
        return not (self.statements.isdisjoint(classes) and self.expressions.isdisjoint(classes))

    def axes(self, kind: ir.BuiltinKind) -> frozenset[int]:
        """The axes along which a builtin is read."""
        return self.builtins.get(kind, frozenset())


def _collect(program: ir.Program) -> NodeKinds:
    statements: set[type[Tree]] = set()
    expressions: set[type[Tree]] = set()
    builtins: dict[ir.BuiltinKind, set[int]] = {}
    for statement in walk_stmts(program.entry):
        statements.add(type(statement))
        for node in walk_own_exprs(statement):
            expressions.add(type(node))
            if type(node) is ir.Builtin:
                builtins.setdefault(node.kind, set()).add(node.axis)
    axes = {kind: frozenset(found) for kind, found in builtins.items()}
    return NodeKinds(frozenset(statements), frozenset(expressions), axes)


__all__ = ["NodeKinds"]
