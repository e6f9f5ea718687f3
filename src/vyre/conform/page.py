"""docs/conformance.md: what the suite found, written by the run that found it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from vyre.conform.report import ConformanceReport

_INTRODUCTION = """\
# Conformance

Every backend is compared with the reference, which defines what programs mean. This page was
written by the command that measured it:

    {command}

A *case* is one thing that is compared. For opcodes, conversions and atomics it is one result: an
opcode, a type, an operand form (from buffers, shared by all invocations, literal) and one tuple of
operand values. For memory it is one access, for control flow one path through a kernel, and for
everything else one behaviour: a program with its data, all results of which must hold. Integers
must agree in every bit; floats as [floats](spec/floats.md) says: exactly, or within the stated
bound of an approximate opcode, any NaN for any NaN, and a subnormal may be flushed to zero.

What a device does not offer is listed as such and never counted as passed.
"""


def write_page(reports: Sequence[ConformanceReport], path: Path) -> None:
    """Write the page for some devices."""
    devices = " ".join(f"--device {report.device}" for report in reports)
    command = f"vyre conform {devices} --write-docs docs/conformance.md"
    lines = [_INTRODUCTION.format(command=command), _circumstances(), ""]
    for report in reports:
        lines += _section(report)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _circumstances() -> str:
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    versions = ", ".join(
        f"{name} {_version(name)}" for name in ("vyre", "numpy", "llvmlite", "wgpu")
    )
    return (
        f"Measured on {when} on {platform.machine()} {platform.system()} with "
        f"Python {platform.python_version()}, {versions}."
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def _section(report: ConformanceReport) -> list[str]:
    verdict = "all of them hold" if report.ok else f"{report.cases - report.passed:,} do not hold"
    lines = [
        f"## {report.device}: {report.name}",
        "",
        f"{report.cases:,} cases, {verdict}. Optimizer profile: {report.profile}.",
        "",
        "| area | programs | cases | passed | failed | not offered | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, area in report.areas.items():
        lines.append(
            f"| {name} | {area.programs:,} | {area.cases:,} | {area.passed:,} | {area.failed:,} "
            f"| {area.not_offered:,} | {area.seconds:.1f} |"
        )
    lines.append("")
    if report.missing:
        lines += ["Not offered:", ""]
        lines += [f"- {what} ({count:,} cases)" for what, count in report.missing.items()]
        lines.append("")
    if report.failures:
        lines += ["Failures:", ""]
        lines += [f"- {str(failure).splitlines()[0]}" for failure in report.failures]
        lines.append("")
    return lines
