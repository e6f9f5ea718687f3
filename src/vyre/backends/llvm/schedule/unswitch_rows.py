"""Conditionals that are one thing for whole rows: some rows take one arm, all others the other.

In `if 0 < y < h - 1 and 0 < x < w - 1 { … } else { … }` rows at the edges of an array do nothing of
what those in its midst do. The part of the condition that is the same all along a row is asked once
for each row; what is left of it is about lanes, and fails at the ends of a row at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.rewrites.structure_returns import Part, conjunction, parts_of
from vyre.ir import AnyExpr, Body, If, Let
from vyre.ir.walk import rebuilt, without_blocks
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.analysis.affine_forms import LinearForms


@dataclass(frozen=True, slots=True)
class Arms:
    """The work of rows for which a condition holds, and of those for which it does not."""

    condition: AnyExpr
    """Names written out."""
    then: Body
    otherwise: Body


def arms_of(body: Body, forms: LinearForms) -> Arms | None:
    """The arms of the conditional that is all that a body does; None if rows all do the same."""
    statements = without_blocks(body)
    if not statements:
        return None
    *before, last = statements
    if not isinstance(last, If) or not last.then or not last.otherwise:
        return None
    if not all(isinstance(statement, Let) for statement in before):
        return None
    parts = parts_of(last.cond, negated=False, is_integer=forms.is_integer)
    by_row = [part for part in parts if _is_by_row(part, forms)]
    if not by_row:
        return None
    left = [part for part in parts if part not in by_row]
    then = last.then
    if left:
        then = (rebuilt(last, {"cond": conjunction(left)}),)
    condition = forms.expand(conjunction(by_row))
    if not forms.is_row_constant(condition):
        return None
    return Arms(condition, (*before, *then), (*before, *last.otherwise))


def _is_by_row(part: Part, forms: LinearForms) -> bool:
    sides = (part.left,) if part.op is None else (part.left, part.right)
    return all(forms.is_row_constant(forms.expand(side)) for side in sides)


__all__ = ["Arms", "arms_of"]
