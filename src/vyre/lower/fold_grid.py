"""Grids with more workgroups along an axis than a device launches."""

from __future__ import annotations

from math import prod

from vyre.record import dataclass

Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FoldedGrid:
    """A grid that a device launches in place of another.

    The launched workgroups are numbered x first, then y, then z; the first `total` of them are the
    workgroups of the other grid, numbered the same way, and the rest do nothing.
    """

    launched: Grid
    total: int


def fold_grid(grid: Grid, limit: int) -> FoldedGrid | None:
    """How to launch `grid` where no axis may exceed `limit`; None when it fits as it is.

    ValueError when no three axes of that limit hold all the workgroups.
    """
    if max(grid) <= limit:
        return None
    total = prod(grid)
    if total > limit**3:
        raise ValueError(f"{total} workgroups are more than {limit} cubed")
    # As few layers as possible, and rows of equal length, so that hardly any workgroup idles.
    layers = -(-total // (limit * limit))
    per_layer = -(-total // layers)
    rows = -(-per_layer // limit)
    columns = -(-per_layer // rows)
    return FoldedGrid((columns, rows, layers), total)
