"""The lengths that callers give for buffers: whole numbers that 32 bits hold."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import SupportsIndex, cast

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.ir import Program

TOO_LONG = 1 << 32
"""Elements of which 32 bits do not count every one."""


def check_sizes(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    """The lengths of outputs, by name; refuses what is no length, and no buffer's."""
    if not isinstance(cast("object", sizes), Mapping):
        raise bad_size("the outputs", sizes, "without their names", "pass sizes={'name': n}")
    known = [decl.name for decl in program.buffers if not (decl.is_on_chip or decl.is_scratch)]
    found: dict[str, int] = {}
    for name, size in sizes.items():
        if name not in known:
            fix = f"leave it out; the buffers are: {', '.join(known)}"
            raise bad_size(name, size, "which is no buffer", fix)
        length = _whole(size)
        if length is None or not 0 <= length < TOO_LONG:
            fix = "pass a whole number from 0 to 2**32 - 1"
            raise bad_size(name, size, "which is no length of a buffer", fix)
        found[name] = length
    return found


def bad_size(name: str, size: object, problem: str, fix: str) -> ArgumentError:
    """What is said of a length that a buffer cannot have."""
    return ArgumentError(codes.BAD_SIZE.at(name=name, found=repr(size), problem=problem, fix=fix))


def _whole(size: object) -> int | None:
    """A number as Python's own; those of numpy will do, but no arrays and no truth values."""
    if isinstance(size, bool) or hasattr(size, "__len__"):
        return None
    try:
        return index(cast("SupportsIndex", size))
    except TypeError:
        return None
