"""Syntax trees as patterns again, without flags: what was written in any dialect, in Go's."""

from __future__ import annotations

from typing import assert_never

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import Look
from vyre.ops.match.regex.syntax import (
    EMPTY,
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    fold,
)

_LOOKS = {
    Look.TEXT_START: "\\A",
    Look.LINE_START: "(?m:^)",
    Look.TEXT_END: "\\z",
    Look.LINE_END: "(?m:$)",
    Look.WORD_BOUNDARY: "\\b",
    Look.NOT_WORD_BOUNDARY: "\\B",
}
_SIMPLE: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def unparse(root: Node) -> str | None:
    """The tree as a pattern of the Go dialect; None if an assertion has no name there."""
    return fold(root, _written)


def _written(node: Node, below: list[str | None]) -> str | None:
    parts = [part for part in below if part is not None]
    if len(parts) < len(below):
        return None
    match node:
        case Class(bits):
            return byte_sets.show(bits) if bits else "[^\\x00-\\xff]"
        case Assertion(look):
            return _LOOKS.get(look)
        case Concat(items):
            pairs = zip(items, parts, strict=True)
            return "".join(_grouped(part, item, (Alternation,)) for item, part in pairs)
        case Alternation():
            return "|".join(parts)
        case Repeat():
            loose = (Alternation, Concat, Repeat)
            return _grouped(parts[0], node.body, loose) + _bounds(node)
        case Group(_, _, name):
            return f"({parts[0]})" if name is None else f"(?P<{name}>{parts[0]})"
        case _:
            assert_never(node)


def _grouped(part: str, node: Node, loose: tuple[type[Node], ...]) -> str:
    return f"(?:{part})" if isinstance(node, loose) or node == EMPTY else part


def _bounds(node: Repeat) -> str:
    bounds = _SIMPLE.get((node.least, node.most))
    if bounds is None:
        least, most = node.least, node.most
        if most == least:
            bounds = f"{{{least}}}"
        else:
            bounds = f"{{{least},{'' if most is None else most}}}"
    return bounds if node.greedy else f"{bounds}?"
