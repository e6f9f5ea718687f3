"""Loops that follow links through memory: every step waits for the load of the step before.

One lane after the other, a machine waits for memory most of the time, or for a guess about the end
of a chain that was wrong. Lanes of vectors wait together, and gathers fetch for all of them what
the next step needs. That pays where a step is little else: what a loop finds side by side in
memory, or decides to leave early, one lane does faster alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vyre import ir
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.host import Host
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

WORD_BYTES = 4
"""Of elements that the machine gathers for all lanes."""


def has_gathers(host: Host) -> bool:
    """Whether the machine loads from as many places as a vector has lanes by one instruction."""
    return not {"avx2", "avx512f", "sve"}.isdisjoint(host.enabled)


def only_chases(body: ir.Body, shapes: Divergence, buffers: Mapping[str, ir.BufferDecl]) -> bool:
    """Whether all loops that lanes leave one by one follow links, and do nothing beside it."""
    found = False
    for statement in walk_stmts(body):
        match statement:
            case ir.Break() | ir.Continue() | ir.Return():
                return False
            case ir.Loop(_, start, stop, inner):
                if shapes.is_varying(start) or shapes.is_varying(stop) or _stores(inner):
                    return False
            case ir.While(cond, inner):
                if not shapes.is_varying(cond) or not _chases(statement, buffers):
                    return False
                found = True
            case _:
                if any(isinstance(node, ir.Atomic) for node in _nodes(statement)):
                    return False
    return found


def _stores(body: ir.Body) -> bool:
    return any(isinstance(statement, ir.Store) for statement in walk_stmts(body))


def _nodes(statement: ir.AnyStmt) -> Iterator[ir.AnyExpr]:
    for child in expr_children(statement):
        yield from walk_expr(child)


def _chases(loop: ir.While, buffers: Mapping[str, ir.BufferDecl]) -> bool:
    """Whether one of a loop's loads is at a place that came out of one in the round before."""
    values: dict[str, list[ir.AnyExpr]] = {}
    bound: set[str] = set()
    indices: list[ir.AnyExpr] = []
    for statement in (loop, *walk_stmts(loop.body)):
        if isinstance(statement, (ir.Let, ir.Assign)):
            values.setdefault(statement.name, []).append(statement.value)
            if isinstance(statement, ir.Let):
                bound.add(statement.name)
        elif not isinstance(statement, ir.If) and statement is not loop:
            return False
        for node in _nodes(statement):
            if isinstance(node, ir.Load):
                if buffers[node.buffer].element.size_bytes != WORD_BYTES:
                    return False
                indices.append(node.index)
    places = _names_behind(indices, values)
    return any(_loads(values[name], values) for name in places - bound)


def _names_behind(exprs: Iterable[ir.AnyExpr], values: Mapping[str, list[ir.AnyExpr]]) -> set[str]:
    """The loop's own variables that some expressions depend on, through others as well."""
    found: set[str] = set()
    waiting = list(exprs)
    while waiting:
        for node in walk_expr(waiting.pop()):
            if isinstance(node, ir.Var) and node.name in values and node.name not in found:
                found.add(node.name)
                waiting += values[node.name]
    return found


def _loads(exprs: list[ir.AnyExpr], values: Mapping[str, list[ir.AnyExpr]]) -> bool:
    behind = [value for name in _names_behind(exprs, values) for value in values[name]]
    return any(isinstance(node, ir.Load) for expr in (*exprs, *behind) for node in walk_expr(expr))
