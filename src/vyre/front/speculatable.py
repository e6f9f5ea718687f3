"""Which expressions may be evaluated speculatively, where Python would skip them."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import walk_expr


def is_harmless(expr: ir.AnyExpr) -> bool:
    """True if evaluating an expression needlessly has no observable effect.

    A load may be out of bounds, which is defined but which the sanitizer reports.
    """
    for part in walk_expr(expr):
        if isinstance(part, ir.Atomic):
            return False
        if isinstance(part, ir.Load) and not isinstance(part.index, ir.Lit):
            return False
    return True
