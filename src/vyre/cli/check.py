"""`vyre check FILE`: every problem of a program, with its place and its fix."""

from __future__ import annotations

import argparse

from vyre.cli import output
from vyre.cli.command import DONE, FAILED
from vyre.cli.program import as_json
from vyre.cli.sources import device_argument, file_argument, program_from
from vyre.diagnostics import Severity
from vyre.driver import routing

SUMMARY = "check a program, for a device if one is given"
EXAMPLE = "vyre check kernel.vy --device cpu"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    file_argument(parser)
    device_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Check a program."""
    program = program_from(options.file)
    target = None
    if options.device is not None:
        route = routing.choose(options.device)
        target = route.backend.target(route.device)
    found = program.check(target)
    errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in found)
    if options.json:
        output.print_json({"ok": not errors, "problems": [as_json(each) for each in found]})
    else:
        for diagnostic in found:
            print(f"{diagnostic}\n")
        warnings = len(found) - errors
        where = "" if target is None else f" on {target.name}"
        if found:
            print(f"{options.file}: {_count(errors, 'error')}, {_count(warnings, 'warning')}")
        else:
            print(f"{options.file}: no problems{where}")
    return FAILED if errors else DONE


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
