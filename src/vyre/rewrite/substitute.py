"""Puts expressions in the place of variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vyre.ir import AnyExpr, Var
from vyre.ir.node import MAX_EXPR_DEPTH
from vyre.ir.walk import map_exprs
from vyre.rewrite.literal_legality import Buffers, lawful

Lookup = Callable[[str], AnyExpr | None]


def substituted(expr: AnyExpr, lookup: Lookup, buffers: Buffers) -> AnyExpr:
    """`expr` with variables replaced by what `lookup` says, and kept valid."""
    if type(expr) is Var:
        found = lookup(expr.name)
        return expr if found is None else found
    if expr.depth == 1:
        return expr
    new = map_exprs(expr, lambda child: substituted(child, lookup, buffers))
    return expr if new is expr else lawful(new, expr, buffers)


def renamed(expr: AnyExpr, names: Mapping[str, str]) -> AnyExpr:
    """`expr` with variables renamed."""
    if type(expr) is Var:
        new = names.get(expr.name)
        return expr if new is None else Var(new)
    return expr if expr.depth == 1 else map_exprs(expr, lambda child: renamed(child, names))


def fits(outer: AnyExpr, inner: AnyExpr) -> bool:
    """Whether `inner` may stand in `outer` without making it too deep to be built."""
    return outer.depth + inner.depth < MAX_EXPR_DEPTH // 4
