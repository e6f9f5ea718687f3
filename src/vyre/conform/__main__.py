"""`python -m vyre.conform fuzz --seconds 60`: random programs on all cores."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from vyre.conform.fuzz.engine import FuzzReport, fuzz


def main() -> int:
    """Run the command; the exit code says whether something was found."""
    parser = argparse.ArgumentParser("python -m vyre.conform", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    options = commands.add_parser("fuzz", help="run random programs in two ways that must agree")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0, help="where the numbers begin")
    options.add_argument(
        "--what", default="cpu,opt,fuse,split,wire,bytes",
        help="checks: cpu, wgpu, wgpu:ID, opt, fuse, split, wire; and bytes, hostile ones",
    )  # fmt: skip
    options.add_argument("--processes", type=int, help="default: all cores")
    options.add_argument("--mixture", default="thorough", help="thorough, quick or webgpu")
    options.add_argument("--folder", type=Path, default=Path("fuzz-failures"))
    options.add_argument("--number", type=int, help="only this program, in this process")
    given = parser.parse_args()
    checks = tuple(name for name in given.what.split(",") if name != "bytes")
    if given.number is not None:
        return _one(given.number, checks, given.mixture)
    found = 0
    seconds = given.seconds
    if "bytes" in given.what.split(","):
        share = seconds / 20 if checks else seconds
        seconds -= share
        found += _bytes(share, given.seed)
    if checks:
        report = fuzz(
            seconds, given.seed, checks,
            processes=given.processes, mixture=given.mixture, folder=given.folder,
            progress=_progress,
        )  # fmt: skip
        sys.stderr.write("\n")
        print(f"fuzz: seed {given.seed}: {report.line()}")
        for failure in report.failures:
            print(f"FAILED {failure}")
        found += len(report.failures) + (not report.programs)
    return 1 if found else 0


def _progress(report: FuzzReport) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Kfuzz: {report.line()}")
        sys.stderr.flush()


def _bytes(seconds: float, seed: int) -> int:
    from vyre.conform.fuzz_wire import fuzz_wire

    report = fuzz_wire(seconds, seed)
    print(f"bytes: {report}")
    return len(report.failures)


def _one(number: int, checks: tuple[str, ...], mixture: str) -> int:
    from vyre.conform.fuzz import case_of, check_case

    case = case_of(number, mixture)
    print(case)
    findings = check_case(case, number, checks)
    for finding in findings:
        print(f"FAILED {finding.check} at profile {finding.profile}: {finding.problem}")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
