"""Whether a program uses a piece of code that a fix shows.

White space does not matter, and the placeholders of fixes stand for anything: `vy.u32(a > b)`
is used by `vy.u32(x[0] > 1.0)`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(
    r"""
      \.\.\. | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | [A-Za-z_]\w* | \d[\w.]* | \\\S | [=!<>]= | // | \*\* | << | >> | -> | \S
    """,
    re.VERBOSE,
)
PLACEHOLDERS = frozenset(
    (
        *(
            "...",
            *"abcdhijkmntvwxyz",
            "array",
            "buffer",
            "condition",
            "value",
            "step",
            "low",
            "high",
        ),
        *("lane", "axis", "text", "into", "into_start", "source", "source_start", "count"),
        *("expected", "pairs", "whole"),
    )
)
"""Names of fixes that stand for something of the reader's own; not where they are called."""
_LABELS = frozenset(('"label"', '"message"', '"tile"'))
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """The words and signs of a text."""
    return tuple(_TOKEN.findall(text))


def uses(source: str, piece: str) -> bool:
    """Whether a piece of code occurs in a source."""
    whole = ".+?".join(re.escape(part) for part in " ".join(piece.split()).split("..."))
    if re.search(whole, " ".join(source.split())):
        return True
    wanted, given = tokens(piece), tokens(source)
    return any(_begins(given, at, wanted, 0) for at in range(len(given)))


def _begins(given: tuple[str, ...], at: int, wanted: tuple[str, ...], done: int) -> bool:
    if done == len(wanted):
        return True
    if at >= len(given):
        return False
    token = wanted[done]
    called = done + 1 < len(wanted) and wanted[done + 1] == "("
    if token in _LABELS:
        is_text = given[at][0] in "\"'"
        return is_text and _begins(given, at + 1, wanted, done + 1)
    if token in PLACEHOLDERS and not called:
        ends = _expression_ends(given, at)
        return any(_begins(given, end, wanted, done + 1) for end in ends)
    return given[at] == token and _begins(given, at + 1, wanted, done + 1)


def _expression_ends(given: tuple[str, ...], at: int) -> list[int]:
    """Where something that began here may end: brackets are closed, and no comma is outside."""
    ends: list[int] = []
    depth = 0
    for end in range(at, min(at + 40, len(given))):
        token = given[end]
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
        if depth < 0 or (token in (",", "=", ":") and not depth):
            break
        if not depth:
            ends.append(end + 1)
    return ends
