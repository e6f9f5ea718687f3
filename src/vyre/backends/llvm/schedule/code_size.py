"""Programs so large that their work is not written out more often than it must be.

A loop that is there twice, with tests and without, or rounds that follow one another, pay where a
kernel has few of them. In a program of hundreds of statements nobody knows which loop matters, and
LLVM takes more than twice as long over twice as much code.
"""

from __future__ import annotations

from itertools import islice

from vyre.ir import Program
from vyre.ir.walk import walk_stmts

LARGE_PROGRAM = 250
"""Statements from which on a program is large."""


def is_large(program: Program) -> bool:
    """Whether a program has so many statements."""
    return program.memo("is_large", _is_large)


def _is_large(program: Program) -> bool:
    return next(islice(walk_stmts(program.entry), LARGE_PROGRAM, None), None) is not None


__all__ = ["LARGE_PROGRAM", "is_large"]
