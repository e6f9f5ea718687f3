"""`vyre show FILE --as …`: a program at each stage on its way to machine code."""

from __future__ import annotations

import argparse

from vyre.cli import output
from vyre.cli.command import DONE, UsageError
from vyre.cli.sources import device_argument, file_argument, program_from
from vyre.driver import registry, routing
from vyre.driver.backend import EmitOptions
from vyre.ir import Program
from vyre.opt import optimize
from vyre.runtime import compile

SUMMARY = "show a program as IR, optimised, lowered for the CPU, LLVM, assembly or WGSL"
EXAMPLE = "vyre show kernel.vy --as asm"

STAGES = ("ir", "opt", "cpu", "schedule", "llvm", "asm", "wgsl")
_DEVICE_OF: dict[str, str] = dict.fromkeys(("cpu", "schedule", "llvm", "asm"), "cpu")
_LANGUAGES = {
    **dict.fromkeys(("ir", "opt", "cpu", "wgsl"), "rust"),
    **{"schedule": "text", "llvm": "llvm", "asm": "nasm"},
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser)
    parser.add_argument("--as", dest="stage", choices=STAGES, default="ir", help="which form")
    device_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Show a program."""
    text = stage_text(program_from(options.file), options.stage, options.device)
    if options.json:
        output.print_json({"stage": options.stage, "text": text})
    else:
        output.code(text, _LANGUAGES[options.stage])
    return DONE


def stage_text(program: Program, stage: str, device: str | None) -> str:
    """The program in one of the forms of `STAGES`."""
    if stage == "ir":
        return str(program)
    if stage == "opt":
        target = None
        if device is not None:
            route = routing.choose(device)
            target = route.backend.target(route.device)
        return str(optimize(program, target=target).program)
    if stage == "wgsl" and device is None:
        return _portable_wgsl(program)
    found = compile(program, device=device or _DEVICE_OF.get(stage)).sources()
    if stage not in found:
        raise UsageError(f"that device offers {output.listing(sorted(found))}, not {stage}")
    return found[stage]


def _portable_wgsl(program: Program) -> str:
    """WGSL for any WebGPU device; none has to be here."""
    from vyre import compiler
    from vyre.backends.wgsl.targets import PORTABLE

    program.validate(PORTABLE)
    optimised = optimize(program, target=PORTABLE).program
    backend = registry.backend("wgpu")
    artifacts = compiler.emit_segments(optimised, backend, PORTABLE, EmitOptions())
    texts = [artifact.sources["wgsl"] for artifact in artifacts]
    if len(texts) == 1:
        return texts[0]
    # A barrier over the whole grid: a shader for each stretch between two of them.
    return "\n\n".join(
        f"// shader {n} of {len(texts)}\n\n{text}" for n, text in enumerate(texts, 1)
    )
