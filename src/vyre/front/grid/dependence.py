"""What values of a kernel depend on: ids, memory, conditions, and the rounds of loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vyre import ir
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

_EXITS = (ir.Return, ir.Break, ir.Continue)
_GRID_IDS = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.WORKGROUP_ID)
_OF_OTHERS = (ir.Atomic, ir.Ballot, ir.Shuffle, ir.SubgroupReduce)
"""Expressions whose values come from other invocations."""
READ = "is read from memory"
IN_A_LOOP = "changes in a loop"
BY_CONDITION = "depends on a condition in the kernel"
OTHERWISE = "is not computed before the launch"


class Dependence:
    """Which statements and conditions give the values of one kernel."""

    def __init__(self, program: ir.Program) -> None:
        self._decls = {decl.name: decl for decl in program.buffers}
        self._controls: dict[int, list[ir.AnyStmt]] = {}
        """Conditions and loops around a statement, by its identity."""
        self._values: dict[str, list[ir.AnyStmt]] = {}
        """Statements that give a variable a value."""
        self._leaving: list[ir.AnyStmt] = []
        """Conditions and loops around what leaves the kernel, or a round."""
        for statement in walk_stmts(program.entry):
            if isinstance(statement, (ir.If, ir.Loop, ir.While)):
                for inner in walk_stmts((statement,)):
                    if inner is not statement:
                        self._controls.setdefault(id(inner), []).append(statement)
        for statement in walk_stmts(program.entry):
            if isinstance(statement, (ir.Let, ir.Assign)):
                self._values.setdefault(statement.name, []).append(statement)
            if isinstance(statement, ir.Loop):
                self._values.setdefault(statement.var, []).append(statement)
            if isinstance(statement, _EXITS):
                self._leaving += self._controls.get(id(statement), ())

    def is_same(self, place: ir.AnyExpr, statement: ir.AnyStmt) -> bool:
        """Whether all invocations get to a statement, or none, and find the same place there."""
        controls = [*self._controls.get(id(statement), ()), *self._leaving]
        seeds = [place, *(child for control in controls for child in expr_children(control))]
        return not any(self._differs(node) for node in self._feeding(seeds))

    def cause(self, expr: ir.AnyExpr) -> str:
        """Why the host does not know a value."""
        nodes = list(self._feeding([expr]))
        if any(isinstance(node, _OF_OTHERS) or self._is_read(node) for node in nodes):
            return READ
        names = [node.name for node in nodes if isinstance(node, ir.Var)]
        given = [
            s for name in names for s in self._values.get(name, ()) if isinstance(s, ir.Assign)
        ]
        around = [control for s in given for control in self._controls.get(id(s), ())]
        if any(isinstance(control, (ir.Loop, ir.While)) for control in around):
            return IN_A_LOOP
        chosen = any(isinstance(node, ir.Select) for node in nodes)
        return BY_CONDITION if around or chosen else OTHERWISE

    def axes(self, expr: ir.AnyExpr) -> set[int]:
        """The axes of the grid whose ids a value is computed from."""
        builtins = (node for node in self._feeding([expr]) if isinstance(node, ir.Builtin))
        return {node.axis for node in builtins if node.kind in _GRID_IDS}

    def _feeding(self, seeds: Iterable[ir.AnyExpr]) -> Iterator[ir.AnyExpr]:
        """All expressions that values follow from, with the conditions that decide about them."""
        waiting, names = list(seeds), set[str]()
        while waiting:
            for node in walk_expr(waiting.pop()):
                yield node
                if isinstance(node, ir.Var) and node.name not in names:
                    names.add(node.name)
                    for statement in self._values.get(node.name, ()):
                        for each in (statement, *self._controls.get(id(statement), ())):
                            waiting += expr_children(each)

    def _is_read(self, node: ir.AnyExpr) -> bool:
        return (
            isinstance(node, ir.Load)
            and self._decls[node.buffer].access is not ir.BufferAccess.UNIFORM
        )

    def _differs(self, node: ir.AnyExpr) -> bool:
        """Whether a value may differ among invocations by what it is itself."""
        if isinstance(node, ir.Builtin):
            return node.kind is not ir.BuiltinKind.NUM_WORKGROUPS
        if isinstance(node, ir.Load):
            decl = self._decls[node.buffer]
            return decl.is_on_chip or decl.is_host_output or decl.is_scratch
        return isinstance(node, _OF_OTHERS)


__all__ = ["BY_CONDITION", "IN_A_LOOP", "Dependence"]
