"""A program to an artifact: generate LLVM IR, compile it. Imports llvmlite, so import it late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm import jit
from vyre.backends.llvm.codegen.module import generate
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.ir.walk import walk_stmts

_PIPELINES = {"quick": jit.QUICK, "full": jit.STANDARD, "hot": jit.FULL}
MOST_LINES = 7_000
MOST_LINES_OF_LARGE = 2_500
LARGE_PROGRAM = 300
"""Lines of LLVM IR from which code is first made quickly: LLVM takes half a second over so much.
A program of more statements than this has been on its way for long, so it gets fewer. Kernels
written by hand are seldom as large."""


def pipeline_for(tier: str, program: Program, text: str) -> jit.Pipeline:
    """The pipeline that a tier stands for; `auto` depends on how much there is to compile."""
    if tier != "auto":
        return _PIPELINES[tier]
    is_large = sum(1 for _ in walk_stmts(program.entry)) > LARGE_PROGRAM
    most = MOST_LINES_OF_LARGE if is_large else MOST_LINES
    return jit.QUICK if text.count("\n") > most else jit.STANDARD


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
    return Artifact("cpu", made.object, metadata, _Sources(text, host, pipeline))
