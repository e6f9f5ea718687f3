"""Byte equivalence classes: bytes that no set of an automaton tells apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vyre.ops.match.regex import byte_sets


def membership(sets: Iterable[int]) -> NDArray[np.bool_]:
    """A row of 256 flags per set."""
    packed = b"".join(bits.to_bytes(32, "little") for bits in sets)
    rows = np.frombuffer(packed, np.uint8).reshape(-1, 32)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(np.bool_)


def byte_classes(sets: Iterable[int], by_kind: bool) -> NDArray[np.uint8]:
    """The class of every byte, by first occurrence; `by_kind` also parts kinds of bytes."""
    wanted = [*dict.fromkeys(sets)]
    if by_kind:
        wanted += [byte_sets.WORD, byte_sets.NEWLINE]
    if not wanted:
        return np.zeros(256, np.uint8)
    signatures = np.packbits(membership(wanted), axis=0).T
    _, first, inverse = np.unique(signatures, axis=0, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))
    return numbers[inverse.reshape(-1)].astype(np.uint8)
