"""Workgroups of another shape, where invocations cannot tell which workgroup they are in.

A launch is told in workgroups, and threads take so many of them. What a workgroup is for is the
program's business only where its invocations meet: all others are one large grid of invocations,
which is cut here as suits the machine. Lanes go along whole rows of it, and where rows use the same
elements, a few rows go together whatever the shape was. When the last rows are fewer than that,
some before them run once more; so this is for work that may be done twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.analysis.divergence import Shapes
from vyre.backends.llvm.analysis.idempotence import is_repeatable
from vyre.backends.llvm.passes.interchange_axes import may_turn
from vyre.ir import BufLen, Builtin, BuiltinKind, Load, Loop, Program, Store, While
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

ROWS = 4
"""Rows that run together where they use the same elements."""
SHORT_ROW = 16
"""Workgroups whose rows are shorter than this make vectors wait until several are at hand."""


@dataclass(frozen=True, slots=True)
class Regrouped:
    """Workgroups as the machine has them: of one lane along x and some rows."""

    size: tuple[int, int, int]
    """The size that the launch knows."""
    rows: int


def regrouping_of(program: Program, *, turned: bool) -> Regrouped | None:
    """How to cut the grid anew; None where it is best left as it is."""
    size = program.workgroup_size
    on_chip = {decl.name for decl in program.buffers if decl.is_on_chip}
    stored = {s.buffer for s in walk_stmts(program.entry) if isinstance(s, Store)}
    if on_chip & stored or not may_turn(program):
        return None
    axes: set[int] = set()
    for node in walk_all_exprs(program.entry):
        if isinstance(node, (Load, BufLen)) and node.buffer in on_chip:
            return None
        if isinstance(node, Builtin):
            if node.kind is not BuiltinKind.GLOBAL_ID:
                return None
            axes.add(node.axis)
    if not {0, 1} <= axes or not is_repeatable(program, program.entry, frozenset()):
        return None
    short = turned and size[0] < SHORT_ROW
    if (short or size[1] % ROWS) and _rows_share(program):
        return Regrouped(size, ROWS)
    return Regrouped(size, 1) if short else None


def with_groups_changed(program: Program, how: Regrouped) -> Program:
    """The program with the workgroups that the machine has, and without memory it does not use."""
    kept = [decl for decl in program.buffers if not decl.is_on_chip]
    return program.with_rewritten_buffers(kept).with_workgroup_size((1, how.rows, 1))


def _rows_share(program: Program) -> bool:
    """Whether a loop loads what is the same for lanes along y, and not for those along x."""
    along_x, along_y = (Shapes(program, program.entry, (axis,), in_step=True) for axis in (0, 1))
    return any(
        along_x.is_varying(node.index) and not along_y.is_varying(node.index)
        for loop in walk_stmts(program.entry)
        if isinstance(loop, (Loop, While))
        for node in walk_all_exprs(loop.body)
        if isinstance(node, Load)
    )


@dataclass(slots=True)
class Span:
    """The workgroups that a call is for, as the machine has them; all operands are i64."""

    first: str = "%first"
    last: str = "%last"
    extents: tuple[str, str] = ("", "")
    """How many there are along x and y."""
    rows: str = ""
    """Rows of the whole grid; empty where workgroups are what the launch calls so."""


def emit_span(kernel: Kernel, how: Regrouped | None) -> Span:
    """What the workgroups of a call are."""
    w = kernel.w
    nx, ny, nz = (w.emit(f"zext i32 {extent} to i64") for extent in kernel.grid)
    if how is None:
        return Span(extents=(nx, ny))
    told = w.emit(f"mul i64 {w.emit(f'mul i64 {nx}, {ny}')}, {nz}")
    lanes, rows, planes = (
        w.emit(f"mul i64 {count}, {size}")
        for count, size in zip((nx, ny, nz), how.size, strict=True)
    )
    bands = w.emit(f"add i64 {rows}, {how.rows - 1}")
    bands = w.emit(f"udiv i64 {bands}, {how.rows}")
    made = w.emit(f"mul i64 {w.emit(f'mul i64 {lanes}, {bands}')}, {planes}")
    each = w.emit(f"udiv i64 {made}, {told}")
    more = w.emit(f"urem i64 {made}, {told}")
    ends: list[str] = []
    for end in ("%first", "%last"):
        # Each of the launch's workgroups stands for as many of these, the first for one more.
        whole = w.emit(f"mul i64 {end}, {each}")
        ends.append(w.emit(f"add i64 {whole}, {w.intrinsic('umin', 'i64', end, more)}"))
    return Span(ends[0], ends[1], (lanes, bands), rows)


def emit_rows(kernel: Kernel, span: Span, how: Regrouped) -> None:
    """Where the rows of a workgroup begin, and how many there are."""
    w = kernel.w
    if how.rows == 1:
        return
    begin = w.emit(f"zext i32 {kernel.start_of(1)} to i64")
    latest = w.intrinsic("usub.sat", "i64", span.rows, str(how.rows))
    begin = w.intrinsic("umin", "i64", begin, latest)
    kernel.begin_row(w.emit(f"trunc i64 {begin} to i32", "start"))
    count = w.intrinsic("umin", "i64", span.rows, str(how.rows))
    kernel.rows = w.emit(f"trunc i64 {count} to i32", "rows")


__all__ = ["Regrouped", "Span", "emit_rows", "emit_span", "regrouping_of", "with_groups_changed"]
