"""The other engines: RE2 in Latin-1 mode, and Rust's regex (rure) for repeats over 1 000.

Both are development dependencies, imported when they are used.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

from vyre.ops.match.regex import Match
from vyre.ops.match.regex.boundaries import Look
from vyre.ops.match.regex.syntax import (
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    fold,
)
from vyre.record import dataclass

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


def re2_is_exact(root: Node) -> bool:
    """True if RE2 can judge a pattern.

    RE2 flattens its programs, and in doing so loses the priority of an empty iteration where the
    body of the repeat has a repeat in it: of `k(?:|a)*` in b"ka" it takes `k`, as Perl, PCRE and
    Python do, but of `k(?:|ab+)*` in b"kab" it takes all, as none of them does.
    """
    return not fold(root, _summary).is_unreliable


@dataclass(frozen=True, slots=True)
class _Summary:
    prefers_empty: bool
    """Its first choice consumes nothing."""
    has_loop: bool
    is_unreliable: bool = False


def _summary(node: Node, below: list[_Summary]) -> _Summary:
    has_loop = any(each.has_loop for each in below)
    unreliable = any(each.is_unreliable for each in below)
    match node:
        case Class():
            return _Summary(False, False)
        case Assertion():
            return _Summary(True, False)
        case Alternation():
            return _Summary(below[0].prefers_empty, has_loop, unreliable)
        case Repeat(_, least, most, greedy):
            body = below[0]
            lazy = least == 0 and (not greedy or most == 0)
            unreliable |= most is None and body.prefers_empty and body.has_loop
            return _Summary(lazy or body.prefers_empty, has_loop or most is None, unreliable)
        case Concat() | Group():
            return _Summary(all(each.prefers_empty for each in below), has_loop, unreliable)


def rure_is_exact(root: Node) -> bool:
    r"""True if rure can judge a pattern.

    The release on PyPI (0.2.2) has bugs. It takes the end of the last match for the start of a
    line, or of the text, so `(?m)^\s*a` matches in b"xa\n a" behind the first `a`; it loses matches
    of `\B` beside bytes over 7F; and of `b{3}_{0}|b.*` it takes the second choice. So only patterns
    without `{0}`, and without assertions other than `\b`, are left to it.
    """
    return not fold(root, lambda node, below: _is_unreliable(node) or any(below))


def _is_unreliable(node: Node) -> bool:
    if isinstance(node, Assertion):
        return node.look is not Look.WORD_BOUNDARY
    return isinstance(node, Repeat) and node.most == 0


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
