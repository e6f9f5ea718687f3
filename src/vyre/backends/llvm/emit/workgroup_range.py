"""The range of workgroups that a call runs, possibly re-tiled."""

from __future__ import annotations

from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.pass_context import Tiling
from vyre.record import dataclass


@dataclass(slots=True)
class Span:
    """The workgroups that a call runs, after re-tiling; all operands are i64."""

    first: str = "%first"
    last: str = "%last"
    extents: tuple[str, str] = ("", "")
    """Number of workgroups along x and y."""
    rows: str = ""
    """Rows of the whole grid; empty if the workgroups are those of the launch."""


def emit_span(kernel: Kernel, tiling: Tiling | None) -> Span:
    """Emit the range of workgroups that a call runs."""
    w = kernel.w
    nx, ny, nz = (w.emit(f"zext i32 {extent} to i64") for extent in kernel.grid)
    if tiling is None:
        return Span(extents=(nx, ny))
    launched = w.emit(f"mul i64 {w.emit(f'mul i64 {nx}, {ny}')}, {nz}")
    lanes, rows, planes = (
        w.emit(f"mul i64 {count}, {size}")
        for count, size in zip((nx, ny, nz), tiling.size, strict=True)
    )
    bands = w.emit(f"add i64 {rows}, {tiling.rows - 1}")
    bands = w.emit(f"udiv i64 {bands}, {tiling.rows}")
    retiled = w.emit(f"mul i64 {w.emit(f'mul i64 {lanes}, {bands}')}, {planes}")
    each = w.emit(f"udiv i64 {retiled}, {launched}")
    more = w.emit(f"urem i64 {retiled}, {launched}")
    ends: list[str] = []
    for end in ("%first", "%last"):
        # Each workgroup of the launch covers `each` of these, the first `more` of them one more.
        whole = w.emit(f"mul i64 {end}, {each}")
        ends.append(w.emit(f"add i64 {whole}, {w.intrinsic('umin', 'i64', end, more)}"))
    return Span(ends[0], ends[1], (lanes, bands), rows)


def emit_rows(kernel: Kernel, span: Span, tiling: Tiling) -> None:
    """Emit the first row of a workgroup and its number of rows."""
    w = kernel.w
    if tiling.rows == 1:
        return
    begin = w.emit(f"zext i32 {kernel.start_of(1)} to i64")
    latest = w.intrinsic("usub.sat", "i64", span.rows, str(tiling.rows))
    begin = w.intrinsic("umin", "i64", begin, latest)
    kernel.begin_row(w.emit(f"trunc i64 {begin} to i32", "start"))
    count = w.intrinsic("umin", "i64", span.rows, str(tiling.rows))
    kernel.rows = w.emit(f"trunc i64 {count} to i32", "rows")


__all__ = ["Span", "emit_rows", "emit_span"]
