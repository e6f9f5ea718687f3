"""`vyre export`: a program as files that run without vyre."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from vyre.cli import arrays, output
from vyre.cli.command import DONE, UsageError
from vyre.cli.shapes import launch_from
from vyre.cli.show import stage_text
from vyre.cli.sources import file_argument, program_from, program_or_pipeline
from vyre.ir import Program
from vyre.pipelines.pipeline import Pipeline
from vyre.wire import save

SUMMARY = "write a program as a web page, WGSL, LLVM, assembly, text or bytes"
EXAMPLE = "vyre export kernel.vy --web -o page/ --in x=x.npy"

_STAGES = {".wgsl": "wgsl", ".ll": "llvm", ".s": "asm"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser)
    parser.add_argument(
        "--web", action="store_true",
        help="a page that runs the program, or a pipeline of a Python file, on WebGPU, and checks "
        "it against the reference",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="PATH", required=True,
        help="a folder with --web, else a file: .wgsl, .ll, .s, .vy or .vyb",
    )  # fmt: skip
    parser.add_argument(
        "--in", dest="inputs", action="append", default=[], metavar="NAME=VALUE",
        help="with --web, an input of the page, as `vyre run` takes them; others are made up",
    )  # fmt: skip
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="with --web, workgroups")
    parser.add_argument(
        "--elements", metavar="N[,M[,K]]", help="with --web, invocations along x, y and z"
    )
    parser.add_argument(
        "--size", dest="sizes", action="append", default=[], metavar="NAME=N",
        help="with --web, elements of an output that the program leaves open",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the files."""
    target = Path(options.output)
    found = program_or_pipeline(options.file) if options.web else program_from(options.file)
    if not isinstance(found, Program):
        return _told(_pipeline(found, target, options), options)
    program = found
    if options.web:
        written = _web(program, target, options)
    elif options.inputs or options.grid or options.elements or options.sizes:
        raise UsageError("--in, --grid, --elements and --size belong to --web")
    else:
        written = [_single(program, target)]
    return _told(written, options)


def _told(written: list[Path], options: argparse.Namespace) -> int:
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


def _pipeline(
    pipeline: Pipeline[..., Any], folder: Path, options: argparse.Namespace
) -> list[Path]:
    from vyre.cli.pipeline_page import export_pipeline

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --web writes a folder")
    if options.grid or options.elements or options.sizes:
        raise UsageError("the stages of a pipeline have their own grids and sizes")
    return export_pipeline(pipeline, folder, arrays.pairs(options.inputs, "--in"))


def _web(program: Program, folder: Path, options: argparse.Namespace) -> list[Path]:
    from vyre.backends.wgsl.targets import PORTABLE
    from vyre.backends.wgsl.web_export import export_web
    from vyre.cli.samples import Wishes, sample_of

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --web writes a folder")
    # What a browser cannot run is refused before the reference spends time on it.
    program.validate(PORTABLE)
    sizes = arrays.pairs(options.sizes, "--size")
    grid, elements = launch_from(options.grid, options.elements)
    wishes = Wishes(
        inputs=arrays.inputs_from(program, arrays.pairs(options.inputs, "--in")),
        grid=grid,
        elements=elements,
        sizes={name: arrays.whole(text, "--size") for name, text in sizes.items()},
    )
    return export_web(program, folder, sample_of(program, wishes))
