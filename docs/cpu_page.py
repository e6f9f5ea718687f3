"""The pages about the CPU backend that follow from declarations."""

from importlib import import_module
from inspect import getdoc
from itertools import groupby

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.pass_context import CpuPass
from vyre.backends.llvm.pipeline import CPU_PASSES
from vyre.backends.llvm.techniques import Technique

_TUNING = """\
# Tuning constants of the CPU backend

All thresholds, limits, weights and widths that were chosen by measurement, or to bound compile
time: the table is [heuristics.py](../../src/vyre/backends/llvm/heuristics.py). *Benchmark* names a
kernel whose code depends on the value (`python -m benchmarks.sensitivity` finds them); *none* is a
limit on compile time or code size that no kernel reaches. How to change one:
[change the CPU backend](../howto/change-the-cpu-backend.md).
"""
_HEAD = """\
# Passes of the CPU backend

Between the optimizer and the emission of LLVM IR, each once and in this order, under the same
contract: `show("cpu")` is the program after them, and `explain()` says which changed it.
`VYRE_WITHOUT=NAME` leaves one out.
"""
_TECHNIQUES = """\
## Techniques

Lowerings and heuristics of the CPU backend that are not passes, because they need a vector width
or the surroundings of a region. `show("schedule")` and `explain()` list those that were applied;
`VYRE_WITHOUT=prefetch,unroll_and_jam` leaves some out. What each gains is measured by
`python -m benchmarks --suite ablation`.

| technique | what it does |
| --- | --- |
"""


def cpu_page() -> str:
    """The passes with their before and after, and a table of techniques."""
    rows = [f"| `{each.label}` | {each.value} |" for each in Technique]
    return "\n".join([_HEAD, *map(_entry, CPU_PASSES), _TECHNIQUES + "\n".join(rows), ""])


def tuning_page() -> str:
    """The tuning constants, a table for each area."""
    lines = [_TUNING]
    for area, rows in groupby(heuristics.rows(), lambda row: row.area):
        lines += [f"## {area}", "", "| constant | value | unit | benchmark | what it decides |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        for row in rows:
            cells = f"`{row.name}`", _number(row.value), row.unit, row.benchmark, row.decides
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _number(value: int | tuple[int, ...]) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_number, value))
    return f"{value:,}".replace(",", " ")


def _entry(each: CpuPass) -> str:
    does, legal = each.describe()
    module = import_module(type(each).__module__)
    return (
        f"## {each.metadata.name}\n\n{does} {legal}\n\n{_before_and_after(getdoc(module) or '')}\n"
    )


def _before_and_after(text: str) -> str:
    """A module's docstring as Markdown: indented lines are code."""
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        is_code = line.startswith("    ") or (in_code and line in ("becomes", ""))
        if is_code and not in_code:
            lines.append("```text")
        if in_code and not is_code:
            while not lines[-1]:
                lines.pop()
            lines += ["```", ""]
        in_code = is_code
        lines.append(line.removeprefix("    "))
    return "\n".join([*lines, *(["```"] if in_code else [])])
