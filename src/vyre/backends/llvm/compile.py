"""A program to an artifact: generate LLVM IR, compile it. Imports llvmlite, so import it late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm import jit
from vyre.backends.llvm.codegen.large import is_large
from vyre.backends.llvm.codegen.module import generate
from vyre.backends.llvm.loader import ready_to_load
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Lit, Loop, Program
from vyre.ir.walk import walk_stmts

_PIPELINES = {"quick": jit.QUICK, "full": jit.STANDARD}
SMALL_PROGRAM = 100
FEW_LOOPS = 4
"""Statements, and loops of known length, up to which LLVM may write out loops: with more it takes
longer over their rounds than over all the rest."""
MOST_LINES = 7_000
MOST_LINES_OF_LARGE = 2_500
"""Lines of LLVM IR from which code is first made quickly: LLVM takes half a second over so many."""
_WHEN_HOT = ((6_000, jit.FULL), (12_000, jit.LEAN), (40_000, jit.SPARING))
"""Lines up to which each pipeline takes a few seconds: what a hot kernel is worth, as it runs in
the background and once. With still more lines code stays as it was made quickly."""


def pipeline_for(tier: str, program: Program, text: str) -> jit.Pipeline:
    """The pipeline that a tier stands for; `auto` and `hot` depend on how much there is to compile.

    Kernels written by hand get the standard one. What has many statements has many loops, and
    written out by LLVM they would take longer to compile than anybody likes to wait.
    """
    if tier in _PIPELINES:
        return _PIPELINES[tier]
    lines = _lines(text)
    if tier == "hot":
        return next((pipeline for most, pipeline in _WHEN_HOT if lines <= most), jit.QUICK)
    most = MOST_LINES_OF_LARGE if is_large(program) else MOST_LINES
    if lines > most:
        return jit.QUICK
    return jit.STANDARD if _may_unroll(program) else jit.LEAN


def _lines(text: str) -> int:
    """Lines of LLVM IR, the more for those on wide vectors: these become several instructions."""
    return text.count("\n") + 3 * text.count("<32 x") + text.count("<16 x")


def _may_unroll(program: Program) -> bool:
    statements = list(islice(walk_stmts(program.entry), SMALL_PROGRAM + 1))
    loops = sum(
        isinstance(s, Loop) and isinstance(s.start, Lit) and isinstance(s.stop, Lit)
        for s in statements
    )
    return len(statements) <= SMALL_PROGRAM and loops <= FEW_LOOPS


class _Sources(Mapping[str, str]):
    """The readable forms of a kernel, made when somebody looks."""

    def __init__(self, text: str, host: hosts.Host, pipeline: jit.Pipeline) -> None:
        self._text, self._host, self._pipeline = text, host, pipeline

    def __getitem__(self, kind: str) -> str:
        if kind == "llvm":
            return jit.optimised_text(self._text, self._host, self._pipeline)
        if kind == "llvm-raw":
            return self._text
        if kind == "asm":
            return jit.assembly(self._text, self._host, self._pipeline)
        raise KeyError(kind)

    def __iter__(self) -> Iterator[str]:
        return iter(("llvm", "llvm-raw", "asm"))

    def __len__(self) -> int:
        return 3


def compile_program(program: Program, setting: str, options: EmitOptions) -> Artifact:
    """Machine code for this machine (`native`) or for all of its kind (`generic`).

    The option `bounds=unchecked` leaves out tests of bounds: benchmarks measure with it what they
    cost, and nothing else may use it.
    """
    host = hosts.generic() if setting == "generic" else hosts.native()
    unchecked = options.values.get("bounds") == "unchecked"
    # Until a program is hot, whoever launches it first waits for all of its code.
    thorough = options.tier != "auto"
    text, info = generate(program, host, unchecked=unchecked, thorough=thorough)
    pipeline = pipeline_for(options.tier, program, text)
    made = jit.compile_text(text, host, pipeline)
    metadata = replace(info, pipeline=pipeline.name).to_json()
    return Artifact("cpu", ready_to_load(made.object), metadata, _Sources(text, host, pipeline))
