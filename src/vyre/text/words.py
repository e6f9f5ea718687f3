"""The words of program text: which are reserved, and how names and strings are spelled."""

from __future__ import annotations

import re

from vyre.ir.buffer import BufferAccess, MemoryKind
from vyre.ir.opcodes import BuiltinKind, MemoryOrdering
from vyre.ir.types import SCALAR_TYPES

AXES = "xyz"
BUILTINS: dict[str, tuple[BuiltinKind, int]] = {
    (f"{kind.value}.{axis}" if kind.has_axis else kind.value): (kind, number)
    for kind in BuiltinKind
    for number, axis in enumerate(AXES if kind.has_axis else "x")
}
ORDERINGS = {ordering.value: ordering for ordering in MemoryOrdering}
SPECIAL_FLOATS = {
    f"{word}_{dtype}": (word, dtype)
    for word in ("inf", "nan")
    for dtype in SCALAR_TYPES
    if dtype.is_float
}
STORAGE: dict[str, tuple[BufferAccess, MemoryKind]] = {
    "read_only": (BufferAccess.READ_ONLY, MemoryKind.READONLY),
    "read_write": (BufferAccess.READ_WRITE, MemoryKind.GLOBAL),
    "write_only": (BufferAccess.WRITE_ONLY, MemoryKind.GLOBAL),
    "uniform": (BufferAccess.UNIFORM, MemoryKind.UNIFORM),
    "workgroup": (BufferAccess.WORKGROUP, MemoryKind.SHARED),
    "scratch": (BufferAccess.READ_WRITE, MemoryKind.SCRATCH),
    "local": (BufferAccess.READ_WRITE, MemoryKind.LOCAL),
}
"""The word that begins a buffer's type, with the access and the kind of memory it stands for."""

STATEMENT_WORDS = (
    *("let", "eval", "if", "for", "while", "break", "continue", "return", "barrier", "region"),
    *("async_load", "async_store", "async_wait", "trap", "resume", "print", "indirect_dispatch"),
    *("all_reduce", "all_gather", "reduce_scatter", "broadcast", "opaque"),
)
RESERVED = frozenset(
    {
        *STATEMENT_WORDS,
        *("program", "buffer", "else", "in", "from", "true", "false", "cast", "bitcast", "make"),
        *BUILTINS,
        *ORDERINGS,
        *SPECIAL_FLOATS,
    }
)
"""Words that stand for a name only in backquotes."""

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*", re.ASCII)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
UNESCAPES = {escape[1]: char for char, escape in _ESCAPES.items()}


def name_text(name: str) -> str:
    """A name as text: in backquotes when it would be read as something else."""
    if name not in RESERVED and _PLAIN_NAME.fullmatch(name):
        return name
    return f"`{name}`"


def string_text(value: str) -> str:
    """A string in double quotes."""
    if value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    return char if char.isprintable() else f"\\u{{{ord(char):x}}}"
