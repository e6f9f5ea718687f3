"""`vyre conform --device X`: does a device tell the truth?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from vyre.cli import output
from vyre.cli.command import DONE, FAILED, UsageError
from vyre.conform.conformance import run as run_suite
from vyre.conform.page import write_page
from vyre.conform.report import ConformanceReport
from vyre.conform.suite import AREAS
from vyre.opt import OptimizerProfile

SUMMARY = "run the conformance suite against a device"
EXAMPLE = "vyre conform --device cpu --report cpu.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--device",
        action="append",
        metavar="ID",
        help="a device (may be given again); default: cpu",
    )
    parser.add_argument("--areas", metavar="A,B", help=f"only these: {', '.join(AREAS)}")
    profiles = [*(profile.value for profile in OptimizerProfile), "none"]
    parser.add_argument(
        "--profile", choices=profiles, default="release", help="optimizer profile; default: release"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report as JSON")
    parser.add_argument(
        "--failures", type=Path, metavar="FOLDER", help="keep failures here, for `vyre run`"
    )
    parser.add_argument(
        "--write-docs", type=Path, metavar="FILE", help="write the page docs/conformance.md"
    )


def run(options: argparse.Namespace) -> int:
    """Run the suite."""
    areas = None if options.areas is None else [a.strip() for a in options.areas.split(",")]
    unknown = [area for area in areas or () if area not in AREAS]
    if unknown:
        raise UsageError(
            f"no area {output.listing(unknown)}; there are {output.listing(list(AREAS))}"
        )
    for path in (options.report, options.write_docs):
        if path is not None and not path.parent.is_dir():
            # Said now, not when everything has run.
            raise UsageError(f"{path}: there is no folder {path.parent}")
    reports: list[ConformanceReport] = []
    for device in options.device or ["cpu"]:
        profile = None if options.profile == "none" else options.profile
        with output.progress() as progress:
            report = run_suite(
                device, areas, profile=profile, reproducers=options.failures, progress=progress
            )
        if not options.json:
            print(report.table())
        reports.append(report)
    found = [report.to_json() for report in reports]
    if options.json:
        output.print_json(found[0] if len(found) == 1 else found)
    if options.report:
        whole = found[0] if len(found) == 1 else found
        options.report.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    if options.write_docs:
        write_page(reports, options.write_docs)
    return DONE if all(report.ok for report in reports) else FAILED
