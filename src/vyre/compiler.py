"""The pipeline, on one page: check, optimise, split at grid barriers, emit.

What comes out needs no device: artifacts for every segment, and the optimised program whose
buffers say what a launch binds. Loading and launching are the runtime's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from vyre.check import validate
from vyre.driver.backend import Backend
from vyre.driver.compilation import Compilation, CompileOptions
from vyre.driver.grid_sync.emission import emit_segments
from vyre.ir import Program
from vyre.ir.gc_pause import collector_paused
from vyre.opt import HotPathHints, OptimizerProfile, OptimizerRunReport, optimize
from vyre.opt.cost_report import CostReport
from vyre.target import Target

__all__ = ["compile_program", "emit_segments"]

Timer = Callable[[str], AbstractContextManager[None]]


def compile_program(
    program: Program,
    backend: Backend,
    target: Target,
    options: CompileOptions,
    hints: HotPathHints | None = None,
    report: OptimizerRunReport | CostReport | None = None,
    stage: Timer = lambda _name: nullcontext(),
) -> Compilation:
    """Take a program through the whole pipeline for one target."""
    with collector_paused():
        return _compiled(program, backend, target, options, hints, report, stage)


def _compiled(
    program: Program,
    backend: Backend,
    target: Target,
    options: CompileOptions,
    hints: HotPathHints | None,
    report: OptimizerRunReport | CostReport | None,
    stage: Timer,
) -> Compilation:
    with stage("check"):
        validate(program, target)
    made: OptimizerRunReport | None = None
    found = b""
    optimised = program
    if options.profile is not None:
        with stage("optimise"):
            profile = OptimizerProfile(options.profile)
            made = optimize(program, profile, target, hints, report, verify=options.verify)
            optimised = made.program
            costs = CostReport.of(made, program, target)
            found = b"" if costs is None else costs.to_bytes()
    with stage("emit"):
        artifacts = tuple(emit_segments(optimised, backend, target, options.emit))
    return Compilation(program, optimised, artifacts, made, found=found)
