"""Divergence analysis: which variables vary between lanes.

A fixpoint over the statements. A value is varying if it reads a varying variable, an id along one
of the axes, private memory or an atomic. With lanes along x, ids along y and z, lengths and loads
at a uniform index are uniform. A variable that is assigned under divergent control flow is varying
as well. The result errs towards varying.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.settled_memory import agreeing_bindings, candidates
from vyre.ir.walk import assigned_names, bodies, expr_children, walk_expr, walk_stmts

ALONG_ITERATIONS = (3,)
"""In place of axes: lanes that are iterations of one invocation share all its ids."""
_IDS = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID)


class Divergence:
    """Varying variables of some statements whose names are unique."""

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
        """Analyse lanes that lie along `axes`; without any, there is one lane.

        With `over_time`, loads of writable memory are varying, unless lanes agree on them. With
        `in_step`, lanes execute the iterations of a loop in lock-step: the active ones share a
        counter if its initial value is uniform.
        """
        self.assigned = assigned_names(body)
        self.varying: set[str] = set(varying)
        self._private = {decl.name for decl in program.buffers if decl.is_local}
        self._agreeing: dict[ir.Let | ir.Assign, frozenset[str]] = {}
        self._divergent_leavers: set[int] = set()
        self._axes = axes
        self._in_step = in_step
        if over_time:
            self._private |= {decl.name for decl in program.buffers if decl.is_writable}
            self._agreeing = agreeing_bindings(body, candidates(program))
        if axes:
            before = -1
            while before != len(self.varying) + len(self._divergent_leavers):
                before = len(self.varying) + len(self._divergent_leavers)
                self._visit(body, divergent=False)
                if not self.assigned and not self._divergent_leavers:
                    # Assignments and exits alone say anything of statements before them.
                    break

    def is_varying(self, expr: ir.AnyExpr) -> bool:
        """True if lanes may have different values; errs towards True."""
        if not self._axes:
            return False
        return any(map(self._differs, walk_expr(expr)))

    def leaves_divergently(self, body: ir.Body) -> bool:
        """True if lanes may leave a loop with this body divergently."""
        return any(id(s) in self._divergent_leavers for s in walk_stmts(body))

    def agreed_on(self, statement: ir.Let | ir.Assign) -> frozenset[str]:
        """Workgroup buffers whose elements are the same for all lanes that load them here."""
        return self._agreeing.get(statement, frozenset())

    def _varies(self, statement: ir.Let | ir.Assign) -> bool:
        agreed = self.agreed_on(statement)
        return bool(self._axes) and any(
            self._differs(node, agreed) for node in walk_expr(statement.value)
        )

    def _differs(self, node: ir.AnyExpr, agreed: frozenset[str] = frozenset()) -> bool:
        # Asked of every node, several times: a match statement takes twice as long.
        if type(node) is ir.Var:
            return node.name in self.varying
        if type(node) is ir.Load:
            return node.buffer in self._private and node.buffer not in agreed
        if type(node) is ir.Builtin:
            return node.kind in _IDS and node.axis in self._axes
        return type(node) is ir.Atomic

    def _visit(self, body: ir.Body, divergent: bool) -> bool:
        """Visit statements; True if some lanes have left when they end."""
        for statement in body:
            divergent = self._statement(statement, divergent) or divergent
        return divergent

    def _statement(self, statement: ir.AnyStmt, divergent: bool) -> bool:
        match statement:
            case ir.Let(name):
                if self._varies(statement):
                    self.varying.add(name)
            case ir.Assign(name):
                if divergent or self._varies(statement):
                    self.varying.add(name)
            case ir.If(cond, then, otherwise):
                inner = divergent or self.is_varying(cond)
                left = self._visit(then, inner)
                right = self._visit(otherwise, inner)
                return (left or right) and self._leaves(statement)
            case ir.Break() | ir.Continue() | ir.Return():
                if divergent:
                    self._divergent_leavers.add(id(statement))
                return divergent
            case ir.Loop() | ir.While():
                self._loop(statement, divergent)
                return any(
                    isinstance(s, ir.Return) and id(s) in self._divergent_leavers
                    for s in walk_stmts((statement,))
                )
            case _:
                for inner_body in bodies(statement):
                    divergent = self._visit(inner_body, divergent)
                return divergent
        return False

    def _loop(self, statement: ir.Loop | ir.While, divergent: bool) -> None:
        own = any(self.is_varying(child) for child in expr_children(statement))
        inner = divergent or own or self.leaves_divergently(statement.body)
        if isinstance(statement, ir.Loop) and (
            self.is_varying(statement.start) if self._in_step else own
        ):
            self.varying.add(statement.var)
        self._visit(statement.body, inner)

    def _leaves(self, statement: ir.AnyStmt) -> bool:
        return any(
            isinstance(s, (ir.Break, ir.Continue, ir.Return)) for s in walk_stmts((statement,))
        )
