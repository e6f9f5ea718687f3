"""Repeats: `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`, each lazy with a `?` behind it."""

from __future__ import annotations

import re
from typing import NoReturn

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex.limits import MAX_REPEAT
from vyre.ops.match.regex.source import Source

_SIMPLE: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_NUMBER = "(0|[1-9][0-9]*|)"
_STRICT_BRACES = re.compile(rf"\{{{_NUMBER}(,?){_NUMBER}\}}")
"""Without leading zeros: Go takes `a{02}` for characters."""
_SPACED_BRACES = re.compile(r"\{\s*([0-9]*)\s*(,?)\s*([0-9]*)\s*\}")


def read_repeat(source: Source, last: str) -> tuple[int, int | None, bool] | None:
    """Read a repeat that applies to an item of the kind `last`: (least, most, greedy).

    None if the brace at the cursor is a character; then nothing was read.
    """
    start = source.position
    bounds = _read_bounds(source)
    if bounds is None:
        return None
    least, most = bounds
    dialect = source.dialect
    if not last:
        _refuse(source, start, "has nothing to repeat", "escape it with a backslash")
    if last == "repeat" and not dialect.stacked_repeats:
        _refuse(source, start, "repeats a repeat", "put the inner repeat into (?:...)")
    if last == "assertion" and not dialect.repeats_assertions:
        _refuse(source, start, "repeats an assertion", "remove the repeat")
    if most is not None and most < least:
        _refuse(source, start, "has its bounds in descending order", "write the lower bound first")
    if max(least, most or 0) > MAX_REPEAT:
        found = source.since(start)
        shown = min(least, MAX_REPEAT)
        source.refuse(codes.REPEAT_TOO_LARGE, start, found=found, limit=MAX_REPEAT, least=shown)
    if dialect.name == "pcre" and source.accept("+"):
        source.refuse(
            codes.ATOMIC,
            start,
            found=source.since(start),
            name="a possessive repeat",
            fix="remove the last +; matches that it drops will be found",
        )
    greedy = not source.accept("?")
    return least, most, greedy


def _read_bounds(source: Source) -> tuple[int, int | None] | None:
    start = source.position
    if source.peek() in _SIMPLE:
        return _SIMPLE[source.take()]
    dialect = source.dialect
    form = _SPACED_BRACES if dialect.spaces_in_braces else _STRICT_BRACES
    counts = form.match(source.text, start)
    if counts is not None:
        least, comma, most = counts.groups()
        is_repeat = bool(least) or (dialect.empty_least and bool(comma) and bool(most))
        if is_repeat and (comma or not most):
            source.position = counts.end()
            low = _number(least or "0")
            return low, _number(most) if most else (None if comma else low)
    if dialect.braces_are_literal:
        return None
    source.position += 1
    fix = "write the counts of a repeat, or escape the brace with a backslash"
    return _refuse(source, start, "starts no repeat", fix)


def _number(digits: str) -> int:
    """The count; counts of many digits are over every limit and need not be computed."""
    return int(digits) if len(digits) < 10 else 10**9


def _refuse(source: Source, start: int, problem: str, fix: str) -> NoReturn:
    found = source.since(start)
    source.refuse(codes.BAD_REPEAT, start, found=found, problem=problem, fix=fix)
