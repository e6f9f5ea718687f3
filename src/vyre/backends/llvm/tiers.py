"""Selects the pipeline of a module by its estimated compile time.

A first launch waits for its code, and what is launched often is recompiled anyway. The estimate
counts lines only, so that the same program always gets the same pipeline.
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
"""Statements, and loops of constant trip count, up to which LLVM unrolls. With more, the unrolled
iterations take longer to compile than all the rest."""
MOST_STANDARD = 560
MOST_SHORT = 2_500
MOST_BRISK = 7_000
MOST_LINES_OF_LARGE = 2_500
"""Lines of LLVM IR up to which pipelines suit first launches. Code of `short` is
as fast as that of `standard`, or nearly; code of `brisk` takes half as long again."""
_WHEN_HOT = ((6_000, jit.FULL), (12_000, jit.LEAN), (40_000, jit.BRISK))
"""Lines up to which each pipeline takes a few seconds: acceptable for a hot kernel, which is
recompiled once and in the background. With still more lines the quick code stays."""
_IN_PLACE = re.compile(r"^define internal .*@(\w+)\(.* alwaysinline \{$", re.MULTILINE)


def pipeline_when_hot(text: str) -> jit.Pipeline:
    """The pipeline for a hot program."""
    lines = text.count("\n") + wide_lines(text)
    return next((pipeline for most, pipeline in _WHEN_HOT if lines <= most), jit.QUICK)


def pipeline_at_first(program: Program, text: str) -> jit.Pipeline:
    """The pipeline for a program that has not been profiled."""
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
    """Additional lines for wide vectors, which are legalised to several instructions."""
    return 3 * text.count("<32 x") + text.count("<16 x")


def lines_to_compile(text: str) -> int:
    """Lines after inlining, to which LLVM's compile time is proportional.

    Most of what a wide vector adds exists in the last stage only.
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
