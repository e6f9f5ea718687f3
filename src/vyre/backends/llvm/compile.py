"""Compiles a program to an artifact: LLVM IR, then machine code.

It imports llvmlite, so import it late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vyre.backends.llvm import host as hosts
from vyre.backends.llvm import jit
from vyre.backends.llvm.abi import KERNEL_SYMBOL, STACK_BYTES
from vyre.backends.llvm.emit.module import Generated, generate
from vyre.backends.llvm.explanation import explain
from vyre.backends.llvm.frames import stack_bytes, with_probes
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.loader import has_linker, ready_to_load
from vyre.backends.llvm.module_splitting import separated
from vyre.backends.llvm.tiers import pipeline_at_first, pipeline_when_hot
from vyre.backends.llvm.vector_math import with_calls
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import TOO_MUCH_STACK
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.record import dataclass

_PIPELINES = {"quick": jit.QUICK, "brisk": jit.BRISK, "short": jit.SHORT, "full": jit.STANDARD}


def pipeline_for(tier: str, program: Program, text: str) -> jit.Pipeline:
    """The pipeline of a tier; `auto` and `hot` depend on the amount of code.

    Short kernels get the standard one. Longer ones are first launched with faster pipelines' code.
    """
    if tier in _PIPELINES:
        return _PIPELINES[tier]
    return pipeline_when_hot(text) if tier == "hot" else pipeline_at_first(program, text)


Module = tuple[str, jit.Pipeline]
"""The text of a module, and how it is compiled."""


class _Sources(Mapping[str, str]):
    """The readable forms of a kernel, made on first use."""

    def __init__(self, made: _Made) -> None:
        self._generated, self._modules, self._host = made.generated, made.modules, made.host

    def __getitem__(self, kind: str) -> str:
        if kind == "cpu":
            return str(self._generated.lowered.program)
        if kind == "schedule":
            return explain(self._generated)
        if kind == "llvm-raw":
            return "\n".join(text for text, _ in self._modules)
        forms = {"llvm": jit.optimised_text, "asm": jit.assembly}
        return "\n".join(forms[kind](text, self._host, how) for text, how in self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(("cpu", "schedule", "llvm-raw", "llvm", "asm"))

    def __len__(self) -> int:
        return 5


def compile_program(
    program: Program, setting: str, options: EmitOptions, without: frozenset[str] = frozenset()
) -> Artifact:
    """Machine code for this machine (`native`) or its architecture (`generic`).

    The option `bounds=unchecked` omits bounds checks: benchmarks measure their cost with it, and
    nothing else may use it. `without` names passes and techniques to leave out.
    """
    host = hosts.generic() if setting == "generic" else hosts.native()
    made = _compile_for(host, program, options, without)
    if made.info.stack_bytes > STACK_BYTES and host.vector_bits > hosts.generic().vector_bits:
        # Spill slots take most of it, and the registers of the generic CPU are narrower.
        made = _compile_for(hosts.generic(), program, options, without)
    if made.info.stack_bytes > STACK_BYTES:
        found = made.info.stack_bytes
        raise BackendError(TOO_MUCH_STACK.at(found=found, limit=STACK_BYTES))
    payload = ready_to_load(made.objects[0], others=made.objects[1:])
    return Artifact("cpu", payload, made.info.to_json(), _Sources(made))


@dataclass(frozen=True, slots=True)
class _Made:
    """A program's machine code before it is linked."""

    generated: Generated
    info: KernelInfo
    modules: list[Module]
    objects: list[bytes]
    host: hosts.Host


def _compile_for(
    host: hosts.Host, program: Program, options: EmitOptions, without: frozenset[str]
) -> _Made:
    unchecked = options.values.get("bounds") == "unchecked"
    # Until a program is hot, its first launch waits for all of its code.
    thorough = options.tier != "auto"
    generated = generate(program, host, unchecked=unchecked, thorough=thorough, without=without)
    text = generated.text
    pipeline = pipeline_for(options.tier, program, text)
    # Frame sizes are known only for objects that are linked here.
    modules = _modules(with_probes(text, host) if has_linker() else text, pipeline)
    objects = [jit.compile_text(each, host, how).object for each, how in modules]
    texts = [each for each, _ in modules]
    stack = stack_bytes(objects, texts, KERNEL_SYMBOL) if has_linker() else 0
    info = replace(generated.info, pipeline=pipeline.name, stack_bytes=stack)
    return _Made(generated, info, modules, objects, host)


def _modules(text: str, pipeline: jit.Pipeline) -> list[Module]:
    """The modules to compile: one, or the kernel and its cold functions separately."""
    if pipeline.codegen_level == 0:
        # Without optimisation, inlined copies gain nothing from their context.
        return [(with_calls(text), pipeline)]
    main, others = separated(text) if has_linker() else (text, None)
    if others is None:
        return [(text, pipeline)]
    return [(main, pipeline), (with_calls(others), jit.BRISK)]
