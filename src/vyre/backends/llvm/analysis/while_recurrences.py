"""Variables that move by the same amount in all lanes, and so stay a constant step apart.

In `k = gid.x; while k < n { … x[k] … k = k + step }` lanes begin side by side and all move on by
`step`: in every round they look at neighbouring elements. Lanes that have left the loop need not
stay behind, if nobody reads the variable there.
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.ir.walk import bodies, expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

Path = tuple[tuple[int, ir.AnyStmt], ...]
"""Statements around a place, the outermost first, each with a number of its own: one object may
stand in several places."""


def rising_variables(body: ir.Body, shapes: Divergence, kept: frozenset[str]) -> frozenset[str]:
    """Variables whose lanes are as far apart as when they were bound, wherever they are read.

    `kept` are those that other stretches of work read.
    """
    if not shapes.assigned:
        return frozenset()
    seen = _Seen(shapes)
    seen.visit(body, ())
    return frozenset(name for name in seen.bound if name not in kept and seen.rises(name))


@dataclass(slots=True)
class _Seen:
    """Where variables that change are bound, changed and read."""

    shapes: Divergence
    bound: dict[str, Path] = field(default_factory=dict[str, Path])
    changes: dict[str, list[tuple[ir.Assign, Path]]] = field(
        default_factory=dict[str, list[tuple[ir.Assign, Path]]]
    )
    reads: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])
    _number: int = 0

    def visit(self, body: ir.Body, path: Path) -> None:
        for statement in body:
            self._number += 1
            inner = (*path, (self._number, statement))
            # The condition of `while` belongs to its rounds, the bounds of `for` do not.
            around = inner if isinstance(statement, ir.While) else path
            for child in expr_children(statement):
                for node in walk_expr(child):
                    if isinstance(node, ir.Var) and node.name in self.shapes.assigned:
                        self.reads.setdefault(node.name, []).append(around)
            if isinstance(statement, ir.Let) and statement.name in self.shapes.assigned:
                self.bound[statement.name] = path
            elif isinstance(statement, ir.Assign):
                self.changes.setdefault(statement.name, []).append((statement, path))
            for nested in bodies(statement):
                self.visit(nested, inner)

    def rises(self, name: str) -> bool:
        """Whether lanes that read a variable have all made the same changes to it."""
        depth = len(self.bound[name])
        return all(
            self._is_step(change) and self._is_made_by_all(name, path[depth:])
            for change, path in self.changes[name]
        )

    def _is_step(self, change: ir.Assign) -> bool:
        """Whether all lanes add the same to the variable."""
        match change.value:
            case ir.Binary(ir.BinOp.ADD, ir.Var(name), by) if name == change.name:
                return not self.shapes.is_varying(by)
            case ir.Binary(ir.BinOp.ADD, by, ir.Var(name)) if name == change.name:
                return not self.shapes.is_varying(by)
            case ir.Binary(ir.BinOp.SUB, ir.Var(name), by) if name == change.name:
                return not self.shapes.is_varying(by)
            case _:
                return False

    def _is_made_by_all(self, name: str, path: Path) -> bool:
        """Whether lanes that read the variable have all gone the way to one of its changes.

        Where lanes part only by leaving a loop, those that stay have; the others must not read the
        variable again: neither after the loop, nor when it is run another time.
        """
        apart = [place for place, (_, around) in enumerate(path) if self._parts(around)]
        if not apart:
            return True
        number, loop = path[apart[-1]]
        if not isinstance(loop, (ir.Loop, ir.While)) or _continues(loop):
            return False
        before = path[: apart[-1]]
        if any(isinstance(around, (ir.Loop, ir.While)) for _, around in before):
            return False
        return all(any(n == number for n, _ in read) for read in self.reads.get(name, ()))

    def _parts(self, statement: ir.AnyStmt) -> bool:
        """Whether some lanes may do what is inside a statement, or more of it, and others not."""
        match statement:
            case ir.If(cond, _, _):
                return self.shapes.is_varying(cond)
            case ir.Loop(_, start, stop, body):
                apart = self._differs(start, stop)
                return apart or self.shapes.leaves_divergently(body)
            case ir.While(cond, body):
                return self._differs(cond) or self.shapes.leaves_divergently(body)
            case _:
                return False

    def _differs(self, *exprs: ir.AnyExpr) -> bool:
        return any(self.shapes.is_varying(expr) for expr in exprs)


def _continues(loop: ir.Loop | ir.While) -> bool:
    return any(isinstance(inner, ir.Continue) for inner in walk_stmts(loop.body))
