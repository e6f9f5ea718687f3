"""`vyre run FILE`: run a program on arrays from files, or replay a reproducer folder."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import nullcontext, redirect_stdout
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.cli import arrays, output
from vyre.cli.command import DONE, FAILED, UsageError
from vyre.cli.shapes import default_grid, launch_from, shapes_of, sizes_from, told
from vyre.cli.sources import device_argument, file_argument, program_from
from vyre.conform.against_reference import reference_outputs
from vyre.conform.compare import Difference, Tolerance, compare_outputs
from vyre.conform.fuzz.guard_pages import Side, can_fence, run_between_fences
from vyre.conform.subject import Subject
from vyre.conform.tolerance import tolerances
from vyre.diagnostics import VyreError
from vyre.driver import routing
from vyre.driver.compilation import CompileOptions
from vyre.driver.grid import given as given_grid
from vyre.ir import Program
from vyre.ir.buffer import SHAPE
from vyre.opt import OptimizerProfile
from vyre.record import dataclass
from vyre.runtime import CompiledProgram, compile, dispatch

SUMMARY = "run a program on arrays, or replay the folder of a failure"
EXAMPLE = "vyre run saxpy.vy --in a=2.0 --in x=x.npy --in y=range:1000 --out y=result.npy"

Array = NDArray[Any]


@dataclass(slots=True)
class Job:
    """Everything that one run needs."""

    program: Program
    inputs: dict[str, Any]
    grid: tuple[int, ...] | None = None
    elements: tuple[int, ...] | None = None
    device: str | None = None
    profile: str | None = "release"
    note: str = ""
    """What a reproducer says about itself."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Shapes of arrays that have several axes."""
    expected: dict[str, Array] = field(default_factory=dict[str, Array])
    """Results to compare with, where it is not the reference that says them."""
    tier: str = "auto"
    side: Side | None = None
    """Where a forbidden page lies, if buffers are to lie between such."""
    granted: dict[str, Tolerance] | None = None
    """What results may differ by; None works it out from the program."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser, ", or the folder of a reproducer")
    parser.add_argument(
        "--in", dest="inputs", action="append", default=[], metavar="NAME=VALUE",
        help="an input: a .npy file, any other file as raw bytes, a number, "
        "or zeros:N, ones:N, range:N, random:N (N,M for two axes)",
    )  # fmt: skip
    parser.add_argument(
        "--out", dest="outputs", action="append", default=[], metavar="NAME=FILE.npy",
        help="write this output to a file",
    )  # fmt: skip
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="workgroups; by default enough of them")
    parser.add_argument(
        "--elements", metavar="N[,M[,K]]", help="invocations along x, y and z, rounded up"
    )
    parser.add_argument(
        "--size", dest="sizes", action="append", default=[], metavar="NAME=N[,M]",
        help="elements of an output that the program leaves open, along each axis",
    )  # fmt: skip
    profiles = [profile.value for profile in OptimizerProfile]
    parser.add_argument("--profile", choices=profiles, help="optimizer profile (default: release)")
    parser.add_argument(
        "--deadline", type=float, metavar="S", help="stop after this number of seconds"
    )
    parser.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="time the best of N runs"
    )
    parser.add_argument(
        "--check", action="store_true",
        help="compare with the reference; a reproducer is always compared",
    )  # fmt: skip
    device_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Run a program once, show and save what comes out."""
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat}: a program runs at least once")
    folder = Path(options.file)
    is_folder = folder.is_dir()
    job = from_folder(folder) if is_folder else _from_file(options)
    if options.device is not None:
        job.device = options.device
    if options.profile is not None:
        job.profile = options.profile
    try:
        if is_folder:
            # A replay shows what the compiler does now, not what it once did.
            subject = Subject(routing.choose(job.device))
            compiled = subject.compile(job.program, job.profile, job.tier)
        else:
            settings = CompileOptions(job.profile)
            compiled = compile(job.program, device=job.device, options=settings)
        # What the kernel prints is no part of an answer for programs.
        with redirect_stdout(sys.stderr) if options.json else nullcontext():
            outputs, spent = _timed(compiled, job, options)
    except VyreError as problem:
        if not is_folder:
            raise
        return _ended(job, problem, options.json)
    wrong: list[Difference] | None = None
    if options.check or is_folder:
        wrong = _compared(job, compiled, outputs)
    for name, shape in job.shapes.items():
        if name in outputs:
            outputs[name] = np.asarray(outputs[name]).reshape(shape)
    _save(outputs, options.outputs)
    _report(job, compiled, outputs, spent, wrong, options.json)
    return FAILED if wrong else DONE


def from_folder(folder: Path) -> Job:
    """What a reproducer holds: `program.vy`, arrays, `launch.json`, and perhaps `failure.json`."""
    source = folder / "program.vy"
    if not source.is_file():
        raise UsageError(f"{folder} holds no program.vy: it is no reproducer")
    launch = _json(folder / "launch.json")
    failure = _json(folder / "failure.json")
    inputs = _arrays(folder)
    grid = launch.get("grid")
    profile = failure.get("profile", "release")
    return Job(
        program_from(str(source)),
        inputs,
        None if grid is None else tuple(int(extent) for extent in grid),
        None,
        failure.get("device"),
        profile,
        str(failure.get("problem", "")),
        expected=_arrays(folder / "expected"),
        tier=failure.get("tier", "auto"),
        side=failure.get("side"),
        granted=_granted(failure),
    )


def _granted(failure: dict[str, Any]) -> dict[str, Tolerance] | None:
    found = failure.get("granted")
    return found and {name: Tolerance(**values) for name, values in found.items()}


def _arrays(folder: Path) -> dict[str, Array]:
    return {path.stem: np.load(path, allow_pickle=False) for path in folder.glob("*.npy")}


def _json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _from_file(options: argparse.Namespace) -> Job:
    program = program_from(options.file)
    inputs = arrays.inputs_from(program, arrays.pairs(options.inputs, "--in"))
    wanted = arrays.pairs(options.sizes, "--size")
    arrays.check_given(program, inputs, _layouts(program))
    shapes = shapes_of(program, inputs, wanted)
    inputs.update(told(shapes))
    sizes = sizes_from(wanted)
    grid, elements = launch_from(options.grid, options.elements)
    if grid is None and elements is None:
        grid = default_grid(program, inputs, shapes, sizes)
    return Job(program, inputs, grid, elements, sizes=sizes, shapes=shapes)


def _layouts(program: Program) -> set[str]:
    """Buffers that say how large arrays are; they follow from the arrays."""
    return {decl.name for decl in program.buffers if decl.name.endswith(SHAPE)}


def _timed(
    compiled: CompiledProgram, job: Job, options: argparse.Namespace
) -> tuple[dict[str, Any], float]:
    if job.side is not None and job.grid is not None and can_fence(compiled.target):
        return _fenced(compiled, job, job.side, job.grid, options)
    best = float("inf")
    outputs: dict[str, Any] = {}
    for _ in range(options.repeat):
        start = time.perf_counter()
        outputs = dispatch(
            compiled, job.inputs, job.grid, job.elements, job.sizes, options.deadline
        )
        best = min(best, time.perf_counter() - start)
    return outputs, best


def _fenced(
    compiled: CompiledProgram,
    job: Job,
    side: Side,
    grid: tuple[int, ...],
    options: argparse.Namespace,
) -> tuple[dict[str, Any], float]:
    if not options.json:
        print("an access outside of a buffer touches a forbidden page and ends this process")
        sys.stdout.flush()
    start = time.perf_counter()
    x, y, z = (*grid, 1, 1)[:3]
    outputs = run_between_fences(compiled, job.inputs, (x, y, z), side, options.deadline)
    return outputs, time.perf_counter() - start


def _compared(job: Job, compiled: CompiledProgram, outputs: dict[str, Any]) -> list[Difference]:
    grid = given_grid(job.program, job.grid, job.elements)
    expected = job.expected or reference_outputs(
        job.program, job.inputs, grid, outputs, compiled.target.subgroup_width
    )
    granted = tolerances(job.program) if job.granted is None else job.granted
    # What is changed in place has the shape in which it was given, and the reference's is flat.
    flat = {
        name: np.asarray(value).reshape(expected[name].shape) if name in expected else value
        for name, value in outputs.items()
    }
    return compare_outputs(job.program, expected, flat, granted)


def _ended(job: Job, problem: VyreError, as_json: bool) -> int:
    """A replay that does not even give results."""
    if as_json:
        output.print_json({"note": job.note, "error": str(problem)})
    else:
        print(f"recorded: {job.note}\n{problem}")
    return FAILED


def _save(outputs: dict[str, Any], wanted: list[str]) -> None:
    for name, path in arrays.pairs(wanted, "--out").items():
        if name not in outputs:
            raise UsageError(f"--out: no output {name}; there are {output.listing(list(outputs))}")
        np.save(path, np.asarray(outputs[name]), allow_pickle=False)


def _report(
    job: Job,
    compiled: CompiledProgram,
    outputs: dict[str, Any],
    spent: float,
    wrong: list[Difference] | None,
    as_json: bool,
) -> None:
    if as_json:
        output.print_json(
            {
                "device": compiled.device,
                "seconds": spent,
                "from_cache": compiled.from_cache,
                "outputs": {name: arrays.summary(value) for name, value in outputs.items()},
                "differences": None if wrong is None else [str(each) for each in wrong],
            }
        )
        return
    screen = output.console()
    table = output.table("output", "type", ">elements", "contents")
    for name, value in outputs.items():
        array = np.asarray(value)
        table.add_row(name, str(array.dtype), f"{array.size:,}", arrays.excerpt(array))
    screen.print(table)
    cached = ", compiled earlier" if compiled.from_cache else ""
    screen.print(f"{output.seconds(spent)} on {compiled.device}{cached}")
    if job.note:
        screen.print(f"recorded: {job.note}", markup=False)
    if wrong is not None:
        for each in wrong:
            screen.print(f"differs from the reference: {each}", style="red", markup=False)
        if not wrong:
            screen.print("[green]the same as the reference[/]")
