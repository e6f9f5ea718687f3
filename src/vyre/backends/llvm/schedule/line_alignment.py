"""Vectors of lanes that begin where lines of the cache begin.

Lanes that go down the columns of a matrix touch another line of the cache in every round, and two
where a vector of them begins in the midst of one: twice as much has to come. Where lanes may run
twice, the second vector of a row begins at the start of a line, among lanes of the first one, and
so do all that follow. Which buffer's lines, and whether its rows begin alike, is a guess that only
time depends on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.analysis.column_walks import jumps_with
from vyre.ir import Load, Loop
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.rewrites.partition_rows import Peeling
    from vyre.backends.llvm.schedule.tile import Tile

LINE = 64
"""Bytes that come together, on nearly all machines."""
FEWEST_STEPS = 16
"""Steps of a row with fewer of which one more costs too much."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The buffer to whose lines vectors keep, and how many of its elements a line holds."""

    buffer: str
    elements: int


def lines_of(kernel: Kernel, peeling: Peeling, tile: Tile) -> Lines | None:
    """The lines that lanes which run together keep to; None where they begin anywhere."""
    forms = peeling.forms
    if not tile.width or not kernel.row.startswith("%"):
        return None
    for loop in walk_stmts(peeling.simplified):
        if not isinstance(loop, Loop):
            continue
        for node in walk_all_exprs(loop.body):
            if not isinstance(node, Load) or not kernel.memories[node.buffer].shared:
                continue
            index = forms.expand(node.index)
            size = kernel.memories[node.buffer].decl.element.size_bytes or LINE
            fits = size < LINE and LINE // size <= tile.step
            if fits and jumps_with(index, loop.var, LINE // size) and forms.is_global(index):
                return Lines(node.buffer, LINE // size)
    return None


def emit_on_line(kernel: Kernel, lines: Lines, following: str, limit: str, step: int) -> str:
    """Where the next lanes of a row begin: where a line does, at most one line earlier."""
    w = kernel.w
    address = w.emit(f"ptrtoint ptr {kernel.memories[lines.buffer].pointer} to i64")
    first = w.emit(f"lshr i64 {address}, {(LINE // lines.elements).bit_length() - 1}")
    first = w.emit(f"add i32 {w.emit(f'trunc i64 {first} to i32')}, {kernel.start_of(0)}")
    over = w.emit(f"and i32 {w.emit(f'add i32 {first}, {following}')}, {lines.elements - 1}")
    long = w.emit(f"icmp uge i32 {limit}, {FEWEST_STEPS * step}")
    back = w.emit(f"select i1 {long}, i32 {over}, i32 0")
    return w.emit(f"sub i32 {following}, {back}")


__all__ = ["Lines", "emit_on_line", "lines_of"]
