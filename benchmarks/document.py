"""docs/benchmarks.md, written from the last complete report of every suite."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.report import RESULTS, Report, Suite, Table, load, write_whole

PAGE = ROOT / "docs" / "benchmarks.md"
PLOT = RESULTS / "kernels.png"

HEAD = """# Benchmarks

Written by `python -m benchmarks --write-docs` (`make bench`) from what it measured; do not edit.
Every section names its machine, date and versions. Results are checked before anything is timed.
"""


def write_page(suites: Sequence[Suite]) -> Path:
    """The page with one section per suite, in the given order.

    A suite without a report here keeps the section that it has, with its machine and its date; what
    was never run is said so.
    """
    known = sections_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    sections = [HEAD]
    for suite in suites:
        path = RESULTS / f"{suite.name}.json"
        missing = known.get(suite.title, f"## {suite.title}\n\nNot measured yet.\n")
        sections.append(section(load(path)) if path.exists() else missing)
    if PLOT.exists():
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PLOT, PAGE.with_suffix(".png"))
    return write_whole(PAGE, "\n".join(sections))


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page, by their titles."""
    parts = f"\n{page}".split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part}" for part in parts}


def section(report: Report) -> str:
    """One suite: what it is, where it was measured, its tables."""
    versions = "; ".join(f"{name} {version}" for name, version in report.versions.items())
    lines = [
        f"## {report.title}",
        "",
        report.introduction,
        "",
        f"Measured {report.date} on {report.machine.sentence}. Versions: {versions}.",
        "",
    ]
    for table in report.tables:
        lines += [markdown(table), ""]
    if report.suite == "kernels" and PLOT.exists():
        lines += ["![time relative to C](benchmarks.png)", ""]
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """The table with its title above and its notes below."""
    lines = [
        f"### {table.title}",
        "",
        f"| {' | '.join(table.columns)} |",
        f"| --- |{' ---: |' * (len(table.columns) - 1)}",
        *(f"| {' | '.join(row)} |" for row in table.rows),
    ]
    if table.notes:
        lines += ["", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines)
