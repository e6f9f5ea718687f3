"""`vyre export`: a program as files that run without vyre."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from vyre.cli import output
from vyre.cli.command import DONE, UsageError
from vyre.cli.show import stage_text
from vyre.cli.sources import file_argument, program_from
from vyre.ir import Program
from vyre.wire import save

SUMMARY = "write a program as a web page, WGSL, LLVM, assembly, text or bytes"
EXAMPLE = "vyre export kernel.vy --web -o page/"

_WEB = "vyre.backends.wgsl.web_export"
_STAGES = {".wgsl": "wgsl", ".ll": "llvm", ".s": "asm"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser)
    parser.add_argument("--web", action="store_true", help="a page with JavaScript for WebGPU")
    parser.add_argument(
        "-o", "--output", metavar="PATH", required=True,
        help="a folder with --web, else a file: .wgsl, .ll, .s, .vy or .vyb",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the files."""
    program = program_from(options.file)
    target = Path(options.output)
    written = _web(program, target) if options.web else [_single(program, target)]
    if options.json:
        output.print_json({"written": [str(path) for path in written]})
    else:
        for path in written:
            print(path)
    return DONE


def _single(program: Program, target: Path) -> Path:
    stage = _STAGES.get(target.suffix)
    if stage is not None:
        target.write_text(stage_text(program, stage, None), encoding="utf-8")
    elif target.suffix in (".vy", ".vyb"):
        save(program, target)
    else:
        known = output.listing([*_STAGES, ".vy", ".vyb"])
        raise UsageError(f"{target}: the suffix says what to write: {known} (or use --web)")
    return target


def _web(program: Program, folder: Path) -> list[Path]:
    if importlib.util.find_spec(_WEB) is None:
        raise UsageError("this build of vyre has no export for the web")
    module: Any = importlib.import_module(_WEB)
    folder.mkdir(parents=True, exist_ok=True)
    return list(module.web_export(program, folder))
