"""Which expressions do something, asked often and so answered fast."""

from __future__ import annotations

from vyre.ir import AnyExpr, Atomic
from vyre.ir.walk import expr_children


def has_effects(expr: AnyExpr) -> bool:
    """Whether evaluating it changes memory, so that how often and when it happens matters."""
    if expr.depth == 1:
        return False
    return type(expr) is Atomic or any(map(has_effects, expr_children(expr)))
