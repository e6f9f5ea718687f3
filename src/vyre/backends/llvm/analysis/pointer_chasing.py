"""Pointer chasing: loops whose loads depend on the load of the previous iteration.

A scalar lane mostly waits for memory, or recovers from a mispredicted exit of its chain. Lanes of a
vector wait together, and one gather loads the next link of all of them. Profitable where an
iteration does little else: loops with contiguous accesses or early exits run faster in scalar
lanes. The predicates decide profitability only and err towards False.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vyre import ir
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.host import Host
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

WORD_BYTES = 4
"""Bytes of elements that the machine gathers."""


def has_gathers(host: Host) -> bool:
    """True if the machine has gather instructions."""
    return not {"avx2", "avx512f", "sve"}.isdisjoint(host.enabled)


def only_chases(body: ir.Body, shapes: Divergence, buffers: Mapping[str, ir.BufferDecl]) -> bool:
    """True if all divergent loops chase pointers and do nothing else."""
    chases = False
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
                chases = True
            case _:
                if any(isinstance(node, ir.Atomic) for node in _nodes(statement)):
                    return False
    return chases


def _stores(body: ir.Body) -> bool:
    return any(isinstance(statement, ir.Store) for statement in walk_stmts(body))


def _nodes(statement: ir.AnyStmt) -> Iterator[ir.AnyExpr]:
    for child in expr_children(statement):
        yield from walk_expr(child)


def _chases(loop: ir.While, buffers: Mapping[str, ir.BufferDecl]) -> bool:
    """True if an index depends on the previous iteration's loads."""
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
    index_names = _names_behind(indices, values)
    return any(_loads(values[name], values) for name in index_names - bound)


def _names_behind(exprs: Iterable[ir.AnyExpr], values: Mapping[str, list[ir.AnyExpr]]) -> set[str]:
    """The loop's variables that expressions depend on, transitively."""
    names: set[str] = set()
    worklist = list(exprs)
    while worklist:
        for node in walk_expr(worklist.pop()):
            if isinstance(node, ir.Var) and node.name in values and node.name not in names:
                names.add(node.name)
                worklist += values[node.name]
    return names


def _loads(exprs: list[ir.AnyExpr], values: Mapping[str, list[ir.AnyExpr]]) -> bool:
    behind = [value for name in _names_behind(exprs, values) for value in values[name]]
    return any(isinstance(node, ir.Load) for expr in (*exprs, *behind) for node in walk_expr(expr))
