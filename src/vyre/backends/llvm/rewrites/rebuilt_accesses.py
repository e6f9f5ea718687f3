"""Accesses that a rewrite has rebuilt, with the originals whose facts hold for them.

Facts about accesses, such as "in bounds at every position", are kept by identity: equal accesses
may stand under different guards. A rewrite records what it rebuilds, and the facts are carried over
once it is through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from vyre import ir

T = TypeVar("T")
Access = ir.AnyExpr | ir.AnyStmt


class RebuiltAccesses:
    """Pairs of a new access and the one that it replaces, in the order of rewriting.

    Both stay alive with the record, so that no other node gets the identity of either.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Access, Access]] = []

    def add(self, new: Access, old: Access) -> None:
        """Record that a new access replaces an old one, which may be a replacement itself."""
        self._pairs.append((new, old))

    def with_facts(self, known: frozenset[int]) -> frozenset[int]:
        """The accesses with a fact, and their replacements."""
        carried = self.carry(dict.fromkeys(known, True))
        return frozenset(carried) if len(carried) > len(known) else known

    def carry(self, known: Mapping[int, T]) -> Mapping[int, T]:
        """The facts by access, for their replacements as well."""
        carried = dict(known)
        for new, old in self._pairs:
            if id(old) in carried:
                carried[id(new)] = carried[id(old)]
        return carried


__all__ = ["RebuiltAccesses"]
