"""A program to an artifact: generate LLVM IR, compile it. Imports llvmlite, so import it late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm import jit
from vyre.backends.llvm.codegen.module import generate
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

_PIPELINES = {"quick": jit.QUICK, "full": jit.STANDARD, "hot": jit.FULL}


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
    pipeline = _PIPELINES[options.tier]
    made = jit.compile_text(text, host, pipeline)
    return Artifact("cpu", made.object, info.to_json(), _Sources(text, host, pipeline))
