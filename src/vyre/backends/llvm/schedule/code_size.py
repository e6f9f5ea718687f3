"""Program size above which code-growing transformations are disabled.

Loop versioning and unrolling pay in kernels with few loops. In a program of hundreds of statements
it is unknown which loop is hot, and LLVM's compile time grows superlinearly with the code.
"""

from __future__ import annotations

from itertools import islice

from vyre.backends.llvm import heuristics
from vyre.ir import Program
from vyre.ir.walk import walk_stmts


def is_large(program: Program) -> bool:
    """True if a program has more statements than `LARGE_PROGRAM_STATEMENTS`."""
    return program.memo("is_large", _is_large)


def _is_large(program: Program) -> bool:
    beyond = islice(walk_stmts(program.entry), heuristics.LARGE_PROGRAM_STATEMENTS, None)
    return next(beyond, None) is not None


__all__ = ["is_large"]
