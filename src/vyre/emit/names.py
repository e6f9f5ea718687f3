"""Names of a program as identifiers of a target language.

Names in vyre may hold dots and may be words that the target reserves. Each becomes one identifier,
recognisably its own, that nothing else has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vyre.ir.names import unused_name

_NOT_WORD = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)


class Names:
    """Hands out identifiers, each once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)
        self._given: dict[tuple[str, str], str] = {}

    def of(self, kind: str, name: str) -> str:
        """The identifier of a thing of the program; the same whenever it is asked for."""
        key = (kind, name)
        if key not in self._given:
            self._given[key] = self.fresh(name)
        return self._given[key]

    def reserve(self, *names: str) -> None:
        """Keep names from being handed out."""
        self._taken.update(names)

    def fresh(self, wish: str) -> str:
        """An identifier like `wish` that is not in use."""
        name = unused_name(identifier(wish), self._taken, "_", first=2)
        self._taken.add(name)
        return name


def identifier(name: str) -> str:
    """`name` with what no identifier may hold replaced; it begins with at most one underscore."""
    word = _NOT_WORD.sub("_", name)
    if word.startswith("__") or word.strip("_") == "" or word[0].isdigit():
        return f"v{word}" if word.strip("_") else "v"
    return word
