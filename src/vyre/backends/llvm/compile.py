"""A program to an artifact: generate LLVM IR, compile it. Imports llvmlite, so import it late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm import jit
from vyre.backends.llvm.codegen.module import generate
from vyre.backends.llvm.loader import ready_to_load
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.ir.walk import walk_stmts

_PIPELINES = {"quick": jit.QUICK, "full": jit.STANDARD, "hot": jit.FULL}
SMALL_PROGRAM = 100
LARGE_PROGRAM = 250
"""Statements up to which LLVM may take its time over loops, and from which there is little left."""
MOST_LINES = 7_000
MOST_LINES_OF_LARGE = 2_500
"""Lines of LLVM IR from which code is first made quickly: LLVM takes half a second over so many."""


def pipeline_for(tier: str, program: Program, text: str) -> jit.Pipeline:
    """The pipeline that a tier stands for; `auto` depends on how much there is to compile.

    Kernels written by hand get the standard one. What has many statements has many loops, and
    written out by LLVM they would take longer to compile than anybody likes to wait.
    """
    if tier != "auto":
        return _PIPELINES[tier]
    statements = sum(1 for _ in walk_stmts(program.entry))
    most = MOST_LINES_OF_LARGE if statements > LARGE_PROGRAM else MOST_LINES
    if text.count("\n") > most:
        return jit.QUICK
    return jit.LEAN if statements > SMALL_PROGRAM else jit.STANDARD


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
    text, info = generate(program, host, unchecked=unchecked)
    pipeline = pipeline_for(options.tier, program, text)
    made = jit.compile_text(text, host, pipeline)
    metadata = replace(info, pipeline=pipeline.name).to_json()
    return Artifact("cpu", ready_to_load(made.object), metadata, _Sources(text, host, pipeline))
