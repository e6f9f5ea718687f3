"""How much LLVM will have to do over a module, and which pipeline that allows.

Nobody likes to wait for a kernel that is launched for the first time, and what is launched often is
compiled once more anyway. The estimate only counts, so that the same program always gets the same.
"""

from __future__ import annotations

import re
from itertools import islice

from vyre.backends.llvm import jit
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir import Lit, Loop, Program
from vyre.ir.walk import walk_stmts

SMALL_PROGRAM = 100
FEW_LOOPS = 4
"""Statements, and loops of known length, up to which LLVM may write out loops: with more it takes
longer over their rounds than over all the rest."""
MOST_STANDARD = 560
MOST_SHORT = 2_500
MOST_BRISK = 7_000
MOST_LINES_OF_LARGE = 2_500
"""Lines of LLVM IR up to which each pipeline is quick enough for a first launch. What `short` makes
runs as fast as the standard's code, or nearly; what `brisk` makes takes half as long again."""
_WHEN_HOT = ((6_000, jit.FULL), (12_000, jit.LEAN), (40_000, jit.BRISK))
"""Lines up to which each pipeline takes a few seconds: what a hot kernel is worth, as it runs in
the background and once. With still more lines code stays as it was made quickly."""
_IN_PLACE = re.compile(r"^define internal .*@(\w+)\(.* alwaysinline \{$", re.MULTILINE)


def pipeline_when_hot(text: str) -> jit.Pipeline:
    """The pipeline for a program that takes its time again and again."""
    lines = text.count("\n") + wide_lines(text)
    return next((pipeline for most, pipeline in _WHEN_HOT if lines <= most), jit.QUICK)


def pipeline_at_first(program: Program, text: str) -> jit.Pipeline:
    """The pipeline for a program of which nothing is known yet."""
    lines = text.count("\n") + wide_lines(text)
    if is_large(program):
        return jit.QUICK if lines > MOST_LINES_OF_LARGE else jit.LEAN
    if lines > MOST_BRISK:
        return jit.QUICK
    effort = lines_to_compile(text)
    if effort > MOST_SHORT:
        return jit.BRISK
    if effort > MOST_STANDARD:
        return jit.SHORT
    return jit.STANDARD if _may_unroll(program) else jit.LEAN


def wide_lines(text: str) -> int:
    """Lines to add for those on wide vectors: these become several instructions."""
    return 3 * text.count("<32 x") + text.count("<16 x")


def lines_to_compile(text: str) -> int:
    """Lines that LLVM's time goes with: those of functions in place count wherever they are used.

    Of what a wide vector adds, most is there only in the last stage.
    """
    lines = text.count("\n") + wide_lines(text) // 3
    for found in _IN_PLACE.finditer(text):
        copies = text.count(f"@{found[1]}(") - 2
        lines += copies * text.count("\n", found.end(), text.index("\n}", found.end()))
    return lines


def _may_unroll(program: Program) -> bool:
    statements = list(islice(walk_stmts(program.entry), SMALL_PROGRAM + 1))
    loops = sum(
        isinstance(s, Loop) and isinstance(s.start, Lit) and isinstance(s.stop, Lit)
        for s in statements
    )
    return len(statements) <= SMALL_PROGRAM and loops <= FEW_LOOPS


__all__ = ["lines_to_compile", "pipeline_at_first", "pipeline_when_hot"]
