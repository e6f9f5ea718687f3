"""WGSL functions for what WGSL itself lacks or defines otherwise.

The `.wgsl` files beside this module are plain WGSL, one topic each. A shader gets the functions it
calls and those they call in turn, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from vyre.record import dataclass

_HEAD = re.compile(r"^(?:fn|const) (\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the prelude, or a constant table."""

    name: str
    text: str
    needs: tuple[str, ...]
    """The functions and tables that its body names."""


@cache
def library() -> dict[str, Function]:
    """Every function of the prelude by name, in the order of the files."""
    texts: dict[str, str] = {}
    for entry in sorted(files(__name__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".wgsl"):
            texts.update(_split(entry.read_text(encoding="utf-8")))
    return {name: Function(name, text, _needs(name, text, texts)) for name, text in texts.items()}


def closure(names: Iterable[str]) -> list[Function]:
    """The named functions and all that they need, each after what it calls."""
    ordered: dict[str, Function] = {}

    def visit(name: str) -> None:
        if name in ordered:
            return
        function = library()[name]
        for needed in function.needs:
            visit(needed)
        ordered[name] = function

    for name in sorted(names):
        visit(name)
    return list(ordered.values())


def _split(text: str) -> dict[str, str]:
    """Paragraphs by the name they declare; the comment that opens a file declares none."""
    found: dict[str, str] = {}
    for paragraph in re.split(r"\n\n(?=//|fn |const )", text):
        head = _HEAD.search(paragraph)
        if head is not None:
            found[head[1]] = paragraph.strip()
    return found


def _needs(name: str, text: str, known: dict[str, str]) -> tuple[str, ...]:
    code = "\n".join(line.partition("//")[0] for line in text.splitlines())
    return tuple(dict.fromkeys(w for w in _WORD.findall(code) if w in known and w != name))
