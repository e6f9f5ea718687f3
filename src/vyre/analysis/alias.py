"""Aliasing: whether two accesses may touch the same element.

    aliases = Aliases.of(program)
    aliases.of_buffers(a, b)                     two names never mean the same memory, unless equal
    aliases.of_accesses(buffer, i, p, other, j, q)    of one invocation, in the same round of the
                                                 loops around both
    aliases.is_own(index, position)              whether no other invocation of the workgroup has
                                                 this index at this statement

A launch refuses two names for one array when one of them is written, so names tell buffers apart.
"""

from __future__ import annotations

from enum import Enum

from vyre import ir
from vyre.analysis.affine import AffineForms
from vyre.analysis.interval import Interval
from vyre.analysis.ranges import Ranges


class Alias(Enum):
    """How two accesses are related."""

    NO = "no"
    """They never touch the same element."""
    MAY = "may"
    MUST = "must"
    """They always touch the same element, or both none."""


class Aliases:
    """Which accesses of one program touch the same elements; get it with `Aliases.of`."""

    def __init__(self, program: ir.Program) -> None:
        self._forms = AffineForms.of(program)
        self._ranges = Ranges.of(program)
        self._size = program.workgroup_size

    @staticmethod
    def of(program: ir.Program) -> Aliases:
        """The aliasing of a program, computed once per program object."""
        return program.memo(Aliases, Aliases)

    @staticmethod
    def of_buffers(first: str, second: str) -> Alias:
        """Whether two names mean the same memory."""
        return Alias.MUST if first == second else Alias.NO

    def of_accesses(
        self,
        buffer: str,
        index: ir.AnyExpr,
        at: int,
        other: str,
        other_index: ir.AnyExpr,
        other_at: int,
    ) -> Alias:
        """How an access at one statement and one at another are related, for one invocation.

        Both statements are taken in the same round of the loops that stand around both.
        """
        if buffer != other:
            return Alias.NO
        gap = self._forms.difference(index, at, other_index, other_at)
        if gap is not None:
            return Alias.NO if gap else Alias.MUST
        a = self._ranges.interval(index, at)
        b = self._ranges.interval(other_index, other_at)
        if a is not None and b is not None and _apart(a, b):
            return Alias.NO
        return Alias.MAY

    def is_own(self, index: ir.AnyExpr, position: int) -> bool:
        """Whether every invocation of a workgroup has another index at this statement.

        Only what is certain: one local or global id along the only extended axis, times one or
        minus one, plus what the whole workgroup agrees on.
        """
        extended = [axis for axis, extent in enumerate(self._size) if extent > 1]
        if not extended:
            return True
        form = self._forms.of_expr(index, position)
        if form is None or len(extended) > 1 or form.bits < 32:
            return False
        [axis] = extended
        ids = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID)
        moving = [
            coefficient
            for symbol, coefficient in form.terms.items()
            if isinstance(symbol, ir.Builtin) and symbol.kind in ids and symbol.axis == axis
        ]
        if len(moving) != 1 or abs(form.signed(moving[0])) != 1:
            return False
        return self._forms.agrees_but_for_id(form, axis)


def _apart(a: Interval, b: Interval) -> bool:
    return a.high < b.low or b.high < a.low
