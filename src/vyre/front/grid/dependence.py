"""What values of a kernel depend on: ids, memory, conditions, and the rounds of loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Ballot,
    Break,
    BufferAccess,
    Builtin,
    BuiltinKind,
    Continue,
    If,
    Let,
    Load,
    Loop,
    Program,
    Return,
    Select,
    Shuffle,
    SubgroupReduce,
    Var,
    While,
)
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

_EXITS = (Return, Break, Continue)
_GRID_IDS = (BuiltinKind.GLOBAL_ID, BuiltinKind.WORKGROUP_ID)
_OF_OTHERS = (Atomic, Ballot, Shuffle, SubgroupReduce)
"""Expressions whose values come from other invocations."""
READ = "is read from memory"
IN_A_LOOP = "changes in a loop"
BY_CONDITION = "depends on a condition in the kernel"
OTHERWISE = "is not computed before the launch"


class Dependence:
    """Which statements and conditions give the values of one kernel."""

    def __init__(self, program: Program) -> None:
        self._decls = {decl.name: decl for decl in program.buffers}
        self._controls: dict[int, list[AnyStmt]] = {}
        """Conditions and loops around a statement, by its identity."""
        self._values: dict[str, list[AnyStmt]] = {}
        """Statements that give a variable a value."""
        self._leaving: list[AnyStmt] = []
        """Conditions and loops around what leaves the kernel, or a round."""
        for statement in walk_stmts(program.entry):
            if isinstance(statement, (If, Loop, While)):
                for inner in walk_stmts((statement,)):
                    if inner is not statement:
                        self._controls.setdefault(id(inner), []).append(statement)
        for statement in walk_stmts(program.entry):
            if isinstance(statement, (Let, Assign)):
                self._values.setdefault(statement.name, []).append(statement)
            if isinstance(statement, Loop):
                self._values.setdefault(statement.var, []).append(statement)
            if isinstance(statement, _EXITS):
                self._leaving += self._controls.get(id(statement), ())

    def is_same(self, place: AnyExpr, statement: AnyStmt) -> bool:
        """Whether all invocations get to a statement, or none, and find the same place there."""
        controls = [*self._controls.get(id(statement), ()), *self._leaving]
        seeds = [place, *(child for control in controls for child in expr_children(control))]
        return not any(self._differs(node) for node in self._feeding(seeds))

    def cause(self, expr: AnyExpr) -> str:
        """Why the host does not know a value."""
        nodes = list(self._feeding([expr]))
        if any(isinstance(node, _OF_OTHERS) or self._is_read(node) for node in nodes):
            return READ
        names = [node.name for node in nodes if isinstance(node, Var)]
        given = [s for name in names for s in self._values.get(name, ()) if isinstance(s, Assign)]
        around = [control for s in given for control in self._controls.get(id(s), ())]
        if any(isinstance(control, (Loop, While)) for control in around):
            return IN_A_LOOP
        chosen = any(isinstance(node, Select) for node in nodes)
        return BY_CONDITION if around or chosen else OTHERWISE

    def axes(self, expr: AnyExpr) -> set[int]:
        """The axes of the grid whose ids a value is computed from."""
        builtins = (node for node in self._feeding([expr]) if isinstance(node, Builtin))
        return {node.axis for node in builtins if node.kind in _GRID_IDS}

    def _feeding(self, seeds: Iterable[AnyExpr]) -> Iterator[AnyExpr]:
        """All expressions that values follow from, with the conditions that decide about them."""
        waiting, names = list(seeds), set[str]()
        while waiting:
            for node in walk_expr(waiting.pop()):
                yield node
                if isinstance(node, Var) and node.name not in names:
                    names.add(node.name)
                    for statement in self._values.get(node.name, ()):
                        for each in (statement, *self._controls.get(id(statement), ())):
                            waiting += expr_children(each)

    def _is_read(self, node: AnyExpr) -> bool:
        return (
            isinstance(node, Load) and self._decls[node.buffer].access is not BufferAccess.UNIFORM
        )

    def _differs(self, node: AnyExpr) -> bool:
        """Whether a value may differ among invocations by what it is itself."""
        if isinstance(node, Builtin):
            return node.kind is not BuiltinKind.NUM_WORKGROUPS
        if isinstance(node, Load):
            decl = self._decls[node.buffer]
            return decl.is_on_chip or decl.is_host_output or decl.is_scratch
        return isinstance(node, _OF_OTHERS)


__all__ = ["BY_CONDITION", "IN_A_LOOP", "Dependence"]
