"""Integer ranges: what values integers may have at each place, and which accesses are in bounds.

    ranges = Ranges.of(program)                 for every launch of the program
    ranges = Ranges.under(program, grid=(4, 1, 1), lengths={"a": 1024}, contents={"n": [512]})
                                                for one kind of launch
    ranges.is_in_bounds(access, position)       a Load or Atomic, or the Store at `position` itself
    ranges.interval(expr, position)             an Interval, or None when only the type is known
    ranges.decided(condition, position)         True, False, or None when it may be either

Ranges come from literals, ids, the workgroup size, lengths, types, masks and remainders, from
loops, and from guards: inside `if i < len(a)`, and after `if i >= len(a) { return }`, the index `i`
is in bounds of `a`, whatever its length. An answer holds for every execution that reaches the
place; where nothing is known, the answer is the whole type.

One walk in the order of the text. Of a variable that a loop assigns it is assumed that one which
only grows keeps its least value, and one which only shrinks its greatest; that is verified at the
end of the round, and dropped if it does not hold. Then the loop is walked once more with what a
round leaves behind, as long as all of that stays within a few walks of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vyre import ir
from vyre.analysis.interval import Interval
from vyre.analysis.range_walk import RangeWalk


class Ranges:
    """What is known of the integers of one program."""

    __slots__ = ("_walk",)

    def __init__(
        self,
        program: ir.Program,
        grid: tuple[int, int, int] | None = None,
        lengths: Mapping[str, int] | None = None,
        contents: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._walk = RangeWalk(program, grid, lengths or {}, contents or {})
        self._walk.run()

    @staticmethod
    def of(program: ir.Program) -> Ranges:
        """What holds for every launch, computed once per program object."""
        return program.memo(Ranges, Ranges)

    @staticmethod
    def under(
        program: ir.Program,
        grid: tuple[int, int, int] | None = None,
        lengths: Mapping[str, int] | None = None,
        contents: Mapping[str, Sequence[int]] | None = None,
    ) -> Ranges:
        """What holds for launches with this grid of workgroups and these lengths of buffers.

        `contents` are elements of read-only and uniform buffers of integers, such as parameters.
        """
        return Ranges(program, grid, lengths, contents)

    def is_in_bounds(self, access: ir.Load | ir.Atomic | ir.Store, position: int) -> bool:
        """Whether the index is inside the buffer whenever the access is executed."""
        return self._walk.values.in_bounds.get((position, id(access)), False)

    def interval(self, expr: ir.AnyExpr, position: int) -> Interval | None:
        """The values of an integer or bool in the statement at `position`.

        None when no more is known than what the type says. The expression must be the object that
        stands in the program.
        """
        return self._walk.values.intervals.get((position, id(expr)))

    def decided(self, condition: ir.AnyExpr, position: int) -> bool | None:
        """Whether a bool in the statement at `position` is always true or always false."""
        found = self.interval(condition, position)
        if found is None or found.constant is None:
            return None
        return found.constant != 0

    @property
    def unproven(self) -> int:
        """How many accesses may be out of bounds, as far as is known."""
        return sum(not inside for inside in self._walk.values.in_bounds.values())
