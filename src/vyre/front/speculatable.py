"""Which expressions may be evaluated speculatively, where Python would skip them."""

from __future__ import annotations

from vyre.ir import AnyExpr, Atomic, Lit, Load
from vyre.ir.walk import walk_expr


def is_harmless(expr: AnyExpr) -> bool:
    """True if evaluating an expression needlessly has no observable effect.

    A load may be out of bounds, which is defined but which the sanitizer reports.
    """
    for part in walk_expr(expr):
        if isinstance(part, Atomic):
            return False
        if isinstance(part, Load) and not isinstance(part.index, Lit):
            return False
    return True
