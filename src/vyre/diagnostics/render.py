"""Diagnostics as text for people. The only place that decides how a problem looks."""

from __future__ import annotations

from collections.abc import Iterable

from vyre.diagnostics.diagnostic import Diagnostic
from vyre.diagnostics.span import Location, Span


def render(diagnostic: Diagnostic) -> str:
    """The diagnostic as a few lines: headline, place with a caret, related places, fix."""
    lines = [f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    lines += _place(diagnostic.location)
    for other in diagnostic.related:
        lines += _place(other, lead="also")
    if diagnostic.fix:
        lines.append(f"  fix: {diagnostic.fix}")
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics, separated by blank lines."""
    return "\n\n".join(render(d) for d in diagnostics)


def _place(location: Location, lead: str = "-->") -> list[str]:
    if location == Location():
        return []
    lines = [f"  {lead} {location}"]
    if location.span is not None and location.span.source is not None:
        lines += _caret(location.span, location.span.source)
    elif location.statement:
        lines.append(f"   | {location.statement}")
    return lines


def _caret(span: Span, source: str) -> list[str]:
    text = source.rstrip("\n").replace("\t", " ")
    number = str(span.line)
    start = max(span.column, 1)
    end = span.end_column if span.end_column is not None else start + 1
    marks = " " * (start - 1) + "^" * max(end - start, 1)
    return [f"  {number} | {text}", f"  {' ' * len(number)} | {marks}"]
