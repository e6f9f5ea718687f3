"""`python -m benchmarks`: measures, and leaves tables, JSON, a plot and a page behind."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from benchmarks.document import PLOT, write_page
from benchmarks.install import install_peers
from benchmarks.kernels import KERNELS, kernels_named
from benchmarks.peers import OWN_PYTHON, PEERS, PEERS_PYTHON, ROOT
from benchmarks.plot import NO_MATPLOTLIB
from benchmarks.report import Options, Report, Suite, save
from benchmarks.suites import SUITES, survey
from benchmarks.survey import CASES
from benchmarks.terminal import show


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for; 0 when every result was right."""
    parser = command_line()
    given = parser.parse_args(arguments)
    if given.list:
        print_names(as_json=given.json)
        return 0
    if given.install_peers:
        return install_peers()
    options, suites = choose(parser, given)
    # With --json, the tables for people make way for what programs read.
    shown = sys.stderr if given.json else sys.stdout
    console = Console(file=shown)
    # Tables that are cut say nothing; on a narrow terminal their lines go on below.
    console.width = max(console.width if shown.isatty() else 160, 120)
    failed = False
    reports: list[Report] = []
    for suite in suites:
        report = suite.run(options)
        reports.append(report)
        failed = failed or bool(report.failures)
        show(report, console)
        path = save(report)
        console.print(f"\nwritten: {path.relative_to(ROOT)}")
        if suite.name == "kernels":
            console.print(plot(report, path.name))
    if given.write_docs:
        page = write_page(SUITES)
        console.print(f"written: {page.relative_to(ROOT)}")
    if given.json:
        print(json.dumps([asdict(report) for report in reports], indent=1))
    return 1 if failed else 0


def command_line() -> argparse.ArgumentParser:
    """The options, with what they may name."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--suite", help="comma-separated suites; all of them by default")
    parser.add_argument(
        "--only", help="comma-separated kernels, such as triad,sum, or of the survey"
    )
    parser.add_argument("--peers", help="comma-separated peers, such as c,numpy")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    parser.add_argument("--rounds", type=int, help="rounds per kernel (15, with --quick 5)")
    parser.add_argument("--budget", type=float, help="seconds per kernel (20, with --quick 3)")
    parser.add_argument(
        "--best", action="store_true", help="compare best times, not medians: for a busy machine"
    )
    parser.add_argument("--write-docs", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--install-peers", action="store_true", help="install the peers and stop")
    parser.add_argument("--list", action="store_true", help="print suites, kernels and peers")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    return parser


def choose(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> tuple[Options, list[Suite]]:
    """The options and suites asked for; ends with a usage error on a name nobody knows."""
    kernels, peers = split(given.only), split(given.peers)
    # Asking for kernels or peers means the kernels suite.
    wanted = split(given.suite) or (["kernels"] if kernels or peers else None)
    suites = {suite.name: suite for suite in SUITES}
    for name in wanted or ():
        if name not in suites:
            parser.error(f"no suite {name!r}; there are {', '.join(suites)}")
    surveyed = wanted == [survey.SUITE.name]
    known = [c.name for c in CASES] if surveyed else [k.name for k in KERNELS]
    try:
        survey.cases_named(kernels) if surveyed else kernels_named(kernels or [])
    except KeyError as error:
        parser.error(f"no kernel {error}; there are {', '.join(known)}")
    for name in peers or ():
        if name not in {peer.name for peer in PEERS}:
            parser.error(f"no peer {name!r}; there are {', '.join(p.name for p in PEERS)}")
    options = Options(
        scale="quick" if given.quick else "full",
        kernels=kernels,
        peers=peers,
        rounds=given.rounds or (5 if given.quick else 15),
        budget=given.budget or (3.0 if given.quick else 20.0),
        statistic="best" if given.best else "median",
    )
    return options, [suites[name] for name in wanted or suites]


def split(text: str | None) -> list[str] | None:
    """A comma-separated list."""
    return [part.strip() for part in text.split(",")] if text else None


def print_names(*, as_json: bool) -> None:
    """Everything the options may name."""
    names = {
        "suites": [suite.name for suite in SUITES],
        "kernels": [kernel.name for kernel in KERNELS],
        "survey": [case.name for case in CASES],
        "peers": [peer.name for peer in PEERS],
    }
    if as_json:
        print(json.dumps(names, indent=1))
        return
    for kind, each in names.items():
        print(f"{kind}: {', '.join(each)}")


def plot(report: Report, name: str) -> str:
    """Draws results/<name>.png with whichever Python has matplotlib; says so when none has."""
    target = PLOT if report.complete else PLOT.with_stem(f"{PLOT.stem}-partial")
    for python in (PEERS_PYTHON, OWN_PYTHON):
        if python.exists():
            command = [str(python), "-m", "benchmarks.plot", name, str(target)]
            done = subprocess.run(command, cwd=ROOT, check=False)
            if done.returncode != NO_MATPLOTLIB:
                done.check_returncode()
                return f"written: {target.relative_to(ROOT)}"
    return "no plot: matplotlib is missing, run `make bench-peers`"


if __name__ == "__main__":
    sys.exit(main())
