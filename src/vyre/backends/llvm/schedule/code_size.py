"""Program size above which code-growing transformations are disabled.

Loop versioning and unrolling pay in kernels with few loops. In a program of hundreds of statements
it is unknown which loop is hot, and LLVM's compile time grows superlinearly with the code.
"""

from __future__ import annotations

from itertools import islice

from vyre.ir import Program
from vyre.ir.walk import walk_stmts

LARGE_PROGRAM = 250
"""Statements of the smallest program that is not large."""


def is_large(program: Program) -> bool:
    """True if a program has more statements than `LARGE_PROGRAM`."""
    return program.memo("is_large", _is_large)


def _is_large(program: Program) -> bool:
    return next(islice(walk_stmts(program.entry), LARGE_PROGRAM, None), None) is not None


__all__ = ["LARGE_PROGRAM", "is_large"]
