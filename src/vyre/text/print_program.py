"""A whole program as text."""

from __future__ import annotations

from vyre.ir.buffer import BufferDecl, BufferHints, CacheLocality
from vyre.ir.program import Program
from vyre.text.print_stmt import print_body
from vyre.text.words import STORAGE, name_text, string_text

_STORAGE_WORD = {meaning: word for word, meaning in STORAGE.items()}


def to_text(program: Program) -> str:
    """The program as text that `parse` reads back to an equal program."""
    x, y, z = program.workgroup_size
    head = f"program workgroup({x}, {y}, {z})"
    if program.entry_op_id is not None:
        head += f" op {string_text(program.entry_op_id)}"
    if program.fast_math:
        head += " fast_math"
    lines = [head, ""]
    if program.buffers:
        lines.extend(map(buffer_line, program.buffers))
        lines.append("")
    print_body(program.entry, "", lines)
    if not lines[-1]:
        lines.pop()
    lines.append("")
    return "\n".join(lines)


def buffer_line(decl: BufferDecl) -> str:
    """A buffer declaration as one line of text."""
    word = _STORAGE_WORD.get((decl.access, decl.kind))
    place = "" if word else f" in {decl.kind.value}"
    count = str(decl.count) if decl.count else ""
    parts = [
        f"buffer {name_text(decl.name)}: {word or decl.access.value} {decl.element}[{count}]",
        "" if decl.binding is None else f" @{decl.binding}",
        place,
        " output" if decl.is_output else "",
        " live_out" if decl.is_pipeline_live_out else "",
        " initial" if decl.has_initial_value else "",
        "" if decl.hints == BufferHints() else f" {_hints(decl.hints)}",
    ]
    return "".join(parts)


def _hints(hints: BufferHints) -> str:
    parts: list[str] = []
    if hints.coalesce_axis is not None:
        parts.append(f"axis={hints.coalesce_axis}")
    if hints.preferred_alignment:
        parts.append(f"align={hints.preferred_alignment}")
    if hints.locality is not CacheLocality.UNKNOWN:
        parts.append(hints.locality.value)
    return f"hints({', '.join(parts)})"
