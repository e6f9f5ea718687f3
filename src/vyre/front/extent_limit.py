"""How long the arrays and the grid of a launch may be, because of how a kernel reads indices.

Ids and lengths go up to 2**32 - 1. A kernel that reads a difference of them with its sign, in
`i32`, is right below 2**31; one that adds a small number to them before it compares, a little below
2**32.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vyre.ir import BufferAccess, Program
from vyre.ir.buffer import SHAPE, is_layout

if TYPE_CHECKING:
    from vyre.analysis.default_grid.extents import Sizes

NO_LIMIT = 1 << 32
"""What every id and every length is less than."""
HALF = 1 << 31
"""Ids and lengths of a launch are below it where a kernel reads indices with their sign."""
LIMIT = "front.extents_below"
"""Under which a program that was a kernel remembers what its extents must be less than."""


def extents_below(program: Program) -> int:
    """What every id and every length of a launch must be less than."""
    return program.memo(LIMIT, _no_limit)


def _no_limit(_: Program) -> int:
    return NO_LIMIT


def extents(program: Program, sizes: Sizes) -> Iterator[tuple[str, int]]:
    """The lengths that a kernel can ask for, and how it writes them."""
    names = {decl.name for decl in program.buffers}
    for decl in program.buffers:
        if decl.is_on_chip or decl.access is BufferAccess.UNIFORM or is_layout(decl.name):
            continue
        length = f"len({decl.name})"
        if decl.name + SHAPE in names:
            rank = next(one.count for one in program.buffers if one.name == decl.name + SHAPE)
            for axis in range(rank):
                yield f"{decl.name}.shape[{axis}]", sizes.extent(decl.name, axis)
            length = f"{decl.name}.size"
        yield length, sizes.length(decl.name)
