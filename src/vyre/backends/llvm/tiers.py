"""Selects the pipeline of a module by its estimated compile time.

A first launch waits for its code, and what is launched often is recompiled anyway. The estimate
counts lines only, so that the same program always gets the same pipeline.
"""

from __future__ import annotations

import re
from itertools import islice

from vyre.backends.llvm import heuristics, jit
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.ir import Lit, Loop, Program
from vyre.ir.walk import walk_stmts

_IN_PLACE = re.compile(r"^define internal .*@(\w+)\(.* alwaysinline \{$", re.MULTILINE)


def pipeline_when_hot(text: str) -> jit.Pipeline:
    """The pipeline for a hot program."""
    lines = text.count("\n") + wide_lines(text)
    if lines <= heuristics.MAX_HOT_FULL_LINES:
        return jit.FULL
    if lines <= heuristics.MAX_HOT_LEAN_LINES:
        return jit.LEAN
    return jit.BRISK if lines <= heuristics.MAX_HOT_BRISK_LINES else jit.QUICK


def pipeline_at_first(program: Program, text: str) -> jit.Pipeline:
    """The pipeline for a program that has not been profiled."""
    lines = text.count("\n") + wide_lines(text)
    if is_large(program):
        return jit.QUICK if lines > heuristics.MAX_LEAN_LINES else jit.LEAN
    if lines > heuristics.MAX_BRISK_LINES:
        return jit.QUICK
    effort = lines_to_compile(text)
    if effort > heuristics.MAX_SHORT_LINES:
        return jit.BRISK
    if effort > heuristics.MAX_STANDARD_LINES:
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
    statements = list(islice(walk_stmts(program.entry), heuristics.MAX_UNROLLED_STATEMENTS + 1))
    loops = sum(
        isinstance(s, Loop) and isinstance(s.start, Lit) and isinstance(s.stop, Lit)
        for s in statements
    )
    return (
        len(statements) <= heuristics.MAX_UNROLLED_STATEMENTS
        and loops <= heuristics.MAX_UNROLLED_LOOPS
    )


__all__ = ["lines_to_compile", "pipeline_at_first", "pipeline_when_hot"]
