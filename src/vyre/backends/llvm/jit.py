"""Compiles LLVM IR text to position-independent code, timing each stage.

Explicit-vector code needs little from the optimiser, so the standard pipeline runs LLVM's
per-function simplification at O1 and never its loop vectoriser. First launches of larger modules
use shorter ones: `lean` does not unroll loops, `short` simplifies once, `brisk` runs a few passes
with fast instruction selection, and `quick` runs fast instruction selection only. `full` is for hot
kernels; where they have too much code for it, `brisk` serves them, too: its register allocator is
the only one that runs in linear time.
"""

from __future__ import annotations

import time
from dataclasses import field
from functools import cache
from typing import Any, Final

from vyre.backends.llvm.host import Host
from vyre.backends.llvm.llvmlite_binding import binding
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import BAD_MODULE
from vyre.interruptible import call_interruptibly
from vyre.locks import make_lock
from vyre.record import dataclass
from vyre.signals import is_from_handler


@dataclass(frozen=True, slots=True)
class Pipeline:
    """How much effort LLVM spends."""

    name: str
    speed_level: int
    """LLVM's optimisation level 0 to 3."""
    codegen_level: int
    """Level of instruction selection and register allocation, 0 to 3."""
    whole_module: bool = False
    """Run LLVM's module pipeline in place of the per-function one."""
    loop_vectorization: bool = False
    slp_vectorization: bool = False
    loop_unrolling: bool = True
    passes: tuple[str, ...] = ()
    """Function passes in place of LLVM's pipeline, if any."""


_LITTLE: Final = ("sroa", "sccp", "simplify_cfg", "aggressive_dce", "loop_rotate", "simplify_cfg")
"""None of these turns an integer load into a float load. LLVM's fast instruction selection must
not see such loads: `Builder.load` says why."""
_ONCE: Final = ("sroa", "simplify_cfg", "instruction_combine", "simplify_cfg")

QUICK: Final = Pipeline("quick", speed_level=0, codegen_level=0)
BRISK: Final = Pipeline("brisk", speed_level=1, codegen_level=0, passes=_LITTLE)
SHORT: Final = Pipeline("short", speed_level=1, codegen_level=2, passes=_ONCE)
LEAN: Final = Pipeline("lean", speed_level=1, codegen_level=2, loop_unrolling=False)
STANDARD: Final = Pipeline("standard", speed_level=1, codegen_level=2)
FULL: Final = Pipeline("full", speed_level=3, codegen_level=3, whole_module=True)


@dataclass(frozen=True, slots=True)
class Compiled:
    """An object file and what it cost."""

    object: bytes
    seconds: dict[str, float] = field(default_factory=dict[str, float])


_lock = make_lock(held_by_forks=True)
"""Held while LLVM runs: a fork meanwhile would copy inconsistent memory."""


def compile_text(text: str, host: Host, pipeline: Pipeline = STANDARD) -> Compiled:
    """Parse, verify, optimise and assemble a module."""
    return call_interruptibly(lambda: _compile(text, host, pipeline))


def _compile(text: str, host: Host, pipeline: Pipeline) -> Compiled:
    clock = time.perf_counter
    with _lock:
        start = clock()
        module = _parse(text)
        parsed = clock()
        machine = _target_machine(host, pipeline.codegen_level)
        _optimise(module, machine, pipeline)
        optimised = clock()
        code = machine.emit_object(module)
        done = clock()
    seconds = {"parse": parsed - start, "optimise": optimised - parsed, "object": done - optimised}
    return Compiled(code, seconds)


def optimised_text(text: str, host: Host, pipeline: Pipeline = STANDARD) -> str:
    """The module as LLVM IR after the pipeline."""
    with _lock:
        module = _parse(text)
        _optimise(module, _target_machine(host, pipeline.codegen_level), pipeline)
        return str(module)


def assembly(text: str, host: Host, pipeline: Pipeline = STANDARD) -> str:
    """The module as assembler source after the pipeline."""
    with _lock:
        module = _parse(text)
        machine = _target_machine(host, pipeline.codegen_level)
        _optimise(module, machine, pipeline)
        return machine.emit_assembly(module)


def _parse(text: str) -> Any:
    llvm = binding()

    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        if is_from_handler(error):
            raise
        raise BackendError(BAD_MODULE.at(problem=str(error).strip())) from error
    return module


def _optimise(module: Any, machine: Any, pipeline: Pipeline) -> None:
    llvm = binding()

    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=pipeline.speed_level)
    tuning.loop_vectorization = pipeline.loop_vectorization
    tuning.slp_vectorization = pipeline.slp_vectorization
    tuning.loop_unrolling = pipeline.loop_unrolling
    tuning.loop_interleaving = pipeline.loop_vectorization
    builder = llvm.create_pass_builder(machine, tuning)
    before = llvm.create_new_module_pass_manager()
    before.add_always_inliner_pass()
    before.add_global_dead_code_eliminate_pass()
    before.run(module, builder)
    if pipeline.whole_module:
        builder.getModulePassManager().run(module, builder)
    elif pipeline.speed_level > 0:
        simplify = _simplification(builder, pipeline)
        for function in module.functions:
            if not function.is_declaration:
                simplify.run(function, builder)


def _simplification(builder: Any, pipeline: Pipeline) -> Any:
    """The passes that run over each function."""
    if not pipeline.passes:
        return builder.getFunctionPassManager()
    made = binding().create_new_function_pass_manager()
    for name in pipeline.passes:
        getattr(made, f"add_{name}_pass")()
    return made


@cache
def _target_machine(host: Host, codegen_level: int) -> Any:
    llvm = binding()

    if host.triple == llvm.get_process_triple():
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(host.triple).create_target_machine(
        cpu=host.cpu,
        features=host.features,
        opt=codegen_level,
        reloc="pic",
        codemodel="small",
    )
