"""`python -m vyre.conform fuzz --seconds 60`: random programs on all cores.

`python -m vyre.conform rules DIR`: the regexes of rule files against RE2.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import time
from pathlib import Path

from vyre.conform.fuzz.checks import DEFAULT_CHECKS, mixture_of
from vyre.conform.fuzz.engine import FuzzReport, fuzz
from vyre.conform.fuzz.seed_distribution import MIXTURES
from vyre.record import dataclass


def main() -> int:
    """Run the command; the exit code says whether something was found."""
    parser = argparse.ArgumentParser("python -m vyre.conform", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    options = commands.add_parser("fuzz", help="run random programs in two ways that must agree")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=0, help="where the numbers begin")
    options.add_argument(
        "--what",
        help="checks: cpu, wgpu:ID, opt, fuse, split, wire; lists, also lists@ID: lists of kernels "
        "fused and one after the other; python, also python@ID: kernels as CPython runs them; "
        "bytes, hostile ones; and regexes, random ones against RE2 "
        "(all, and every WebGPU device found, unless you say)",
    )
    options.add_argument("--programs", type=int, help="stop after this number")
    options.add_argument("--processes", type=int, help="default: all cores")
    options.add_argument(
        "--mixture",
        help=f"kinds of programs: {', '.join(MIXTURES)} (lists and python have their own, all "
        "others get thorough, unless you say)",
    )
    options.add_argument("--folder", type=Path, default=Path("fuzz-failures"))
    options.add_argument("--number", type=int, help="only this program, in this process")
    rules = commands.add_parser("rules", help="compare the regexes of rule files with RE2")
    rules.add_argument("rules", type=Path, help="a folder of .toml and .yml files")
    rules.add_argument("--text", type=Path, help="a file in which every pattern is looked for")
    given = parser.parse_args()
    if given.command == "rules":
        return _rules(given.rules, given.text)
    campaigns = _everything() if given.what is None else _chosen(given.what, given.mixture)
    if given.number is not None:
        return max(_one(given.number, each.checks, each.mixture) for each in campaigns)
    # `kill` and `timeout` end a run as Ctrl-C does: with its counts so far.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return 1 if sum(_run(campaign, given) for campaign in campaigns) else 0
    except KeyboardInterrupt:
        return 130


def _run(campaign: _Campaign, given: argparse.Namespace) -> int:
    """Run one campaign and tell what it found; gives how much that is."""
    seconds = given.seconds * campaign.share
    if campaign.checks == _HOSTILE:
        return _bytes(seconds, given.seed)
    if campaign.checks == _REGEXES:
        return _regexes(seconds, given.seed)
    report = fuzz(
        seconds,
        given.seed,
        campaign.checks,
        processes=given.processes,
        mixture=campaign.mixture,
        programs=given.programs,
        folder=given.folder,
        progress=_Progress(),
    )
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    print(f"fuzz: seed {given.seed}, {campaign.mixture} programs: {report.line()}")
    for line in report.details():
        print(f"  {line}")
    for failure in report.failures:
        print(f"FAILED {failure}")
    sys.stdout.flush()
    if report.interrupted:
        raise KeyboardInterrupt
    idle = () if report.interrupted else report.idle
    for name in idle:
        print(f"FAILED {name} had nothing to compare in {campaign.mixture} programs")
    return len(report.failures) + len(idle)


@dataclass(frozen=True, slots=True)
class _Campaign:
    """Checks on one kind of programs, and their share of the time."""

    checks: tuple[str, ...]
    mixture: str
    share: float


_HOSTILE = ("bytes",)
_REGEXES = ("regexes",)


def _everything() -> list[_Campaign]:
    """What `make fuzz` does: no driver that is here is left out."""
    from vyre.runtime.device_list import devices

    gpus = tuple((*d.aliases, d.id)[0] for d in devices() if d.backend == "wgpu" and d.available)
    share = 0.3 if gpus else 0.0
    rest = 0.9 - share
    campaigns = [
        _Campaign(_HOSTILE, "", 0.05),
        _Campaign(_REGEXES, "", 0.05),
        _Campaign(DEFAULT_CHECKS, "thorough", 0.25 * rest),
        _Campaign(("cpu",), "hostile", 0.15 * rest),
        _Campaign(("cpu",), "kernels", 0.1 * rest),
        _Campaign(("opt",), "passes", 0.15 * rest),
        _Campaign(("split", "cpu", "opt", "fuse"), "seams", 0.15 * rest),
        _Campaign(("lists",), "lists", 0.1 * rest),
        _Campaign(("python",), "python", 0.1 * rest),
    ]
    if gpus:
        campaigns += [
            _Campaign(gpus, "webgpu", 0.6 * share),
            _Campaign(gpus, "seams", 0.2 * share),
            _Campaign(tuple(f"lists@{gpu}" for gpu in gpus), "lists", 0.1 * share),
            _Campaign(tuple(f"python@{gpu}" for gpu in gpus), "python", 0.1 * share),
        ]
    return campaigns


def _chosen(what: str, mixture: str | None) -> list[_Campaign]:
    names = tuple(what.split(","))
    apart = [each for each in (_HOSTILE, _REGEXES) if each[0] in names]
    checks: dict[str, list[str]] = {}
    for name in names:
        if (name,) not in apart:
            checks.setdefault(mixture or mixture_of(name), []).append(name)
    if not checks:
        return [_Campaign(each, "", 1.0 / len(apart)) for each in apart]
    share = 0.05
    campaigns = [_Campaign(each, "", share) for each in apart]
    rest = (1.0 - share * len(apart)) / len(checks)
    return [*campaigns, *(_Campaign(tuple(some), kind, rest) for kind, some in checks.items())]


class _Progress:
    """A line that is rewritten on a terminal, and one every so often elsewhere."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, report: FuzzReport) -> None:
        if sys.stderr.isatty():
            # A line that is wider than the terminal would not be rewritten but repeated.
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[K" + f"fuzz: {report.line()}"[:width])
            sys.stderr.flush()
        elif time.monotonic() - self._told >= _TELL_EVERY:
            self._told = time.monotonic()
            print(f"fuzz: {report.line()}", file=sys.stderr, flush=True)


_TELL_EVERY = 10.0


def _bytes(seconds: float, seed: int) -> int:
    from vyre.conform.fuzz_wire import fuzz_wire

    report = fuzz_wire(seconds, seed)
    print(f"bytes: {report}")
    return len(report.failures)


def _regexes(seconds: float, seed: int) -> int:
    from vyre.conform.regexes.fuzz import fuzz_regexes

    report = fuzz_regexes(seconds, seed)
    print(f"regexes: {report}")
    return len(report.failures)


def _rules(folder: Path, text: Path | None) -> int:
    from vyre.conform.regexes.rules import check_rules

    report = check_rules(folder, b"" if text is None else text.read_bytes())
    print(f"rules: {report}")
    return 1 if report.differences or not report.patterns else 0


def _one(number: int, checks: tuple[str, ...], mixture: str) -> int:
    from vyre.conform.fuzz import case_of, check_case
    from vyre.conform.fuzz.checks import Tally

    case = case_of(number, mixture)
    print(case)
    tally = Tally()
    findings = check_case(case, number, checks, tally)
    for name in tally.refused:
        print(f"{name} refuses the program")
    for finding in findings:
        print(f"FAILED {finding.check} at profile {finding.profile}: {finding.problem}")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
