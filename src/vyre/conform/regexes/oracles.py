"""The other engines: RE2 in Latin-1 mode, and Rust's regex (rure) for repeats over 1 000.

Both are development dependencies, imported when they are used.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

from vyre.ops.match.regex import Match
from vyre.ops.match.regex.syntax import Assertion, Node, Repeat, fold

_MEMORY = 256 << 20


class Re2:
    """One pattern in RE2."""

    def __init__(self, pattern: str | bytes) -> None:
        import re2

        options: Any = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = _MEMORY
        encoded = pattern.encode() if isinstance(pattern, str) else pattern
        self._refused: type[Exception] = re2.error
        self._regex: Any = re2.compile(encoded, options)

    def find(self, text: bytes) -> list[Match]:
        """The matches with their captures."""
        found: list[Match] = []
        for match in self._regex.finditer(text):
            spans = [match.span(number) for number in range(1, self._regex.groups + 1)]
            groups = tuple(None if span[0] < 0 else span for span in spans)
            found.append(Match(match.start(), match.end(), groups))
        return found


def re2_refuses(pattern: str | bytes) -> str | None:
    """Why RE2 refuses a pattern; None if it does not."""
    import re2

    try:
        Re2(pattern)
    except re2.error as error:
        return str(error)
    return None


def rure_is_exact(root: Node) -> bool:
    r"""True if rure can judge a pattern.

    The release on PyPI (0.2.2, of 2018) has bugs that later ones of Rust's regex have not. It takes
    the end of the last match for the start of a line, or of the text, so `(?m)^\s*a` matches in
    b"xa\n a" behind the first `a`; it loses matches of `\B` beside bytes over 7F; and of
    `b{3}_{0}|b.*` it takes the second choice. So only patterns without assertions and without `{0}`
    are left to it.
    """
    return not fold(root, lambda node, below: _is_unreliable(node) or any(below))


def _is_unreliable(node: Node) -> bool:
    return isinstance(node, Assertion) or (isinstance(node, Repeat) and node.most == 0)


class Rure:
    """One pattern in Rust's regex, without Unicode; spans only."""

    def __init__(self, pattern: str) -> None:
        import rure

        self._regex: Any = rure.Rure(f"(?-u){pattern}".encode(), flags=0)

    def find(self, text: bytes) -> list[Match]:
        """The matches, without captures."""
        return [Match(match.start, match.end) for match in self._regex.find_iter(text)]


def rure_refuses(pattern: str) -> str | None:
    """Why Rust's regex refuses a pattern; None if it does not."""
    from rure.exceptions import RegexError as RureError

    try:
        Rure(pattern)
    except RureError as error:
        return str(error)
    return None
