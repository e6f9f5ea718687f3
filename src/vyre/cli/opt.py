"""`vyre opt FILE`: run passes on a program and say what they did."""

from __future__ import annotations

import argparse
from pathlib import Path

from vyre.cli import output
from vyre.cli.command import DONE, UsageError
from vyre.cli.sources import device_argument, file_argument, program_from
from vyre.driver import routing
from vyre.ir import Program
from vyre.opt import (
    OptimizerProfile,
    OptimizerRunReport,
    PassScheduler,
    explain,
    missing_passes,
    optimize,
    registered_passes,
    summarize,
)
from vyre.target import Target
from vyre.wire import save

SUMMARY = "optimise a program, with chosen passes or a profile"
EXAMPLE = "vyre opt kernel.vy --passes simplify,dce --explain"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser, optional=True)
    parser.add_argument(
        "--passes", metavar="A,B", help="only these passes; `list`, without a FILE, lists them"
    )
    profiles = [profile.value for profile in OptimizerProfile]
    parser.add_argument("--profile", choices=profiles, default="release", help="default: release")
    parser.add_argument("--explain", action="store_true", help="say what each pass did and why")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the result here")
    device_argument(parser, "none in particular")


def run(options: argparse.Namespace) -> int:
    """Optimise a program."""
    if options.passes == "list":
        return _list(options.json)
    if options.file is None:
        raise UsageError("opt needs a FILE: a .vy or .vyb file, or module.py:kernel")
    report = _report(program_from(options.file), options)
    if options.output:
        save(report.program, Path(options.output))
    if options.json:
        rows = [
            {"pass": s.name, "rounds": s.ran, "rewrites": s.rewrites, "saved": s.saved}
            for s in summarize(report)
        ]
        output.print_json({"program": str(report.program), "passes": rows})
        return DONE
    if not options.output:
        output.code(str(report.program), "rust")
    if options.explain:
        print(("" if options.output else "\n") + explain(report))
    return DONE


def _report(program: Program, options: argparse.Namespace) -> OptimizerRunReport:
    target = _target(options.device)
    program.validate(target)
    if options.passes is None:
        return optimize(program, OptimizerProfile(options.profile), target)
    known = {each.metadata.name: each for each in registered_passes()}
    wanted = [name.strip() for name in options.passes.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(
            f"there is no pass {output.listing(unknown)}; there are {output.listing(sorted(known))}"
        )
    return PassScheduler([known[name] for name in wanted], True).run_with_report(program, target)


def _target(device: str | None) -> Target | None:
    if device is None:
        return None
    route = routing.choose(device)
    return route.backend.target(route.device)


def _list(as_json: bool) -> int:
    passes = [each.metadata for each in registered_passes()]
    if as_json:
        output.print_json([metadata.name for metadata in passes])
        return DONE
    table = output.table("pass", "phase", "family")
    for metadata in passes:
        table.add_row(
            metadata.name, metadata.phase.name.lower(), metadata.cost_model_family.name.lower()
        )
    screen = output.console()
    screen.print(table)
    for each in missing_passes():
        screen.print(f"[yellow]missing[/]: {each.name}, of {each.origin}: {each.reason}")
        screen.print(f"  {each.remedy}")
    return DONE
