"""Which variables differ between the lanes of a vector, by a fixpoint over the statements.

Lanes run along x: ids along y and z, lengths and loads at the same index are one scalar for all of
them. A variable that changes under control flow that lanes do not share differs as well.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import bodies, expr_children, walk_expr, walk_stmts

ALONG_ROUNDS = (3,)
"""In place of axes: lanes that are rounds of a loop are all at the same place."""


class Divergence:
    """What is known about the variables of some statements whose names are unique."""

    def __init__(
        self,
        program: ir.Program,
        body: ir.Body,
        axes: tuple[int, ...],
        varying: frozenset[str] = frozenset(),
        *,
        over_time: bool = False,
        in_step: bool = False,
    ) -> None:
        """`axes` are those along which lanes lie; without any, there is one lane.

        With `over_time`, a load of memory that may change does differ. With `in_step`, lanes go
        through loops round by round together: those that are left in one have a counter in common
        if they began with the same.
        """
        self.assigned = frozenset(s.name for s in walk_stmts(body) if isinstance(s, ir.Assign))
        self.varying: set[str] = set(varying)
        self._private = {decl.name for decl in program.buffers if decl.is_local}
        self._divergent_leavers: set[int] = set()
        self._axes = axes
        self._in_step = in_step
        if over_time:
            self._private |= {decl.name for decl in program.buffers if decl.is_writable}
        if axes:
            before = -1
            while before != len(self.varying) + len(self._divergent_leavers):
                before = len(self.varying) + len(self._divergent_leavers)
                self._visit(body, apart=False)

    def is_varying(self, expr: ir.AnyExpr) -> bool:
        """Whether lanes may have different values."""
        if not self._axes:
            return False
        return any(self._differs(node) for node in walk_expr(expr))

    def leaves_divergently(self, body: ir.Body) -> bool:
        """Whether some lanes may leave a loop with this body while others stay."""
        return any(id(s) in self._divergent_leavers for s in walk_stmts(body))

    def _differs(self, node: ir.AnyExpr) -> bool:
        match node:
            case ir.Var(name):
                return name in self.varying
            case ir.Builtin(ir.BuiltinKind.GLOBAL_ID | ir.BuiltinKind.LOCAL_ID, axis):
                return axis in self._axes
            case ir.Atomic():
                return True
            case ir.Load(buffer, _):
                return buffer in self._private
            case _:
                return False

    def _visit(self, body: ir.Body, apart: bool) -> bool:
        """Go over statements; whether lanes are apart at the end because some left."""
        for statement in body:
            apart = self._statement(statement, apart) or apart
        return apart

    def _statement(self, statement: ir.AnyStmt, apart: bool) -> bool:
        match statement:
            case ir.Let(name, value):
                if self.is_varying(value):
                    self.varying.add(name)
            case ir.Assign(name, value):
                if apart or self.is_varying(value):
                    self.varying.add(name)
            case ir.If(cond, then, otherwise):
                inner = apart or self.is_varying(cond)
                left = self._visit(then, inner)
                right = self._visit(otherwise, inner)
                return (left or right) and self._leaves(statement)
            case ir.Break() | ir.Continue() | ir.Return():
                if apart:
                    self._divergent_leavers.add(id(statement))
                return apart
            case ir.Loop() | ir.While():
                self._loop(statement, apart)
                return any(
                    isinstance(s, ir.Return) and id(s) in self._divergent_leavers
                    for s in walk_stmts((statement,))
                )
            case _:
                for inner_body in bodies(statement):
                    apart = self._visit(inner_body, apart)
                return apart
        return False

    def _loop(self, statement: ir.Loop | ir.While, apart: bool) -> None:
        own = any(self.is_varying(child) for child in expr_children(statement))
        inner = apart or own or self.leaves_divergently(statement.body)
        if isinstance(statement, ir.Loop) and (
            self.is_varying(statement.start) if self._in_step else own
        ):
            self.varying.add(statement.var)
        self._visit(statement.body, inner)

    def _leaves(self, statement: ir.AnyStmt) -> bool:
        return any(
            isinstance(s, (ir.Break, ir.Continue, ir.Return)) for s in walk_stmts((statement,))
        )
