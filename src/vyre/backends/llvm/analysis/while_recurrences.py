"""Recurrences with a uniform step: variables that stay linear across lanes.

In `k = gid.x; while k < n { … x[k] … k = k + step }` lanes start at consecutive indices and all
advance by `step`: in every iteration they access consecutive elements. A variable keeps the stride
of its initial value if every lane that reads it has executed the same updates. The variable may
advance in inactive lanes as well, if it is not read there. Errs towards "not linear".
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.ir.walk import bodies, walk_own_exprs, walk_stmts
from vyre.record import dataclass

Path = tuple[tuple[int, ir.AnyStmt], ...]
"""Statements around a position, the outermost first, each with a unique number: one object may
occur at several positions."""


def rising_variables(body: ir.Body, shapes: Divergence, kept: frozenset[str]) -> frozenset[str]:
    """Variables that keep their initial stride wherever they are read.

    `kept` are those that other regions read.
    """
    if not shapes.assigned:
        return frozenset()
    accesses = _Accesses(shapes)
    accesses.visit(body, ())
    return frozenset(name for name in accesses.bound if name not in kept and accesses.rises(name))


@dataclass(slots=True)
class _Accesses:
    """Bindings, updates and reads of reassigned variables."""

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
            # The condition of `while` is evaluated per iteration, the bounds of `for` are not.
            around = inner if isinstance(statement, ir.While) else path
            for node in walk_own_exprs(statement):
                if isinstance(node, ir.Var) and node.name in self.shapes.assigned:
                    self.reads.setdefault(node.name, []).append(around)
            if isinstance(statement, ir.Let) and statement.name in self.shapes.assigned:
                self.bound[statement.name] = path
            elif isinstance(statement, ir.Assign):
                self.changes.setdefault(statement.name, []).append((statement, path))
            for nested in bodies(statement):
                self.visit(nested, inner)

    def rises(self, name: str) -> bool:
        """True if all reading lanes have executed the same updates."""
        depth = len(self.bound[name])
        return all(
            self._is_step(change) and self._is_executed_by_all(name, path[depth:])
            for change, path in self.changes[name]
        )

    def _is_step(self, change: ir.Assign) -> bool:
        """True if the update adds a uniform step."""
        match change.value:
            case ir.Binary(ir.BinOp.ADD, ir.Var(name), by) if name == change.name:
                return not self.shapes.is_varying(by)
            case ir.Binary(ir.BinOp.ADD, by, ir.Var(name)) if name == change.name:
                return not self.shapes.is_varying(by)
            case ir.Binary(ir.BinOp.SUB, ir.Var(name), by) if name == change.name:
                return not self.shapes.is_varying(by)
            case _:
                return False

    def _is_executed_by_all(self, name: str, path: Path) -> bool:
        """True if all lanes that read the variable have executed an update.

        Where lanes diverge only by leaving a loop, the active ones have; the others must not read
        the variable again: neither after the loop, nor when it is re-entered.
        """
        divergent = [depth for depth, (_, around) in enumerate(path) if self._diverges(around)]
        if not divergent:
            return True
        number, loop = path[divergent[-1]]
        if not isinstance(loop, (ir.Loop, ir.While)) or _continues(loop):
            return False
        before = path[: divergent[-1]]
        if any(isinstance(around, (ir.Loop, ir.While)) for _, around in before):
            return False
        return all(any(n == number for n, _ in read) for read in self.reads.get(name, ()))

    def _diverges(self, statement: ir.AnyStmt) -> bool:
        """True if lanes may execute a statement's body unequally often."""
        match statement:
            case ir.If(cond, _, _):
                return self.shapes.is_varying(cond)
            case ir.Loop(_, start, stop, body):
                divergent = self._is_varying(start, stop)
                return divergent or self.shapes.leaves_divergently(body)
            case ir.While(cond, body):
                return self._is_varying(cond) or self.shapes.leaves_divergently(body)
            case _:
                return False

    def _is_varying(self, *exprs: ir.AnyExpr) -> bool:
        return any(self.shapes.is_varying(expr) for expr in exprs)


def _continues(loop: ir.Loop | ir.While) -> bool:
    return any(isinstance(inner, ir.Continue) for inner in walk_stmts(loop.body))
