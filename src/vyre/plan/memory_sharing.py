"""Memory that several buffers have one after the other: greedy by size.

    a: 4 MiB, epochs 0 to 1        one piece of 4 MiB: a, then c
    b: 4 bytes, epochs 2 to 9  ->  one of 4 bytes: b
    c: 4 MiB, epochs 3 to 4

The largest buffers choose first (Pisarchyk and Lee, "Efficient memory management for deep neural
net inference", 2020): a small one that lives long takes no place that a large one could have had,
since it gets what the large ones leave free. For buffers of one size this colours an interval graph
in the order of first uses, which needs the least number of pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K", str, int)


def share(sizes: Mapping[K, int], lives: Mapping[K, tuple[int, int]]) -> list[list[K]]:
    """Put buffers of disjoint lives together, each list in the order of the lives."""
    pieces: list[list[K]] = []
    for name in sorted(lives, key=lambda n: (-sizes[n], lives[n], n)):
        first, last = lives[name]
        # All pieces are at least as large as this one; the later ones are the smaller.
        for piece in reversed(pieces):
            if all(lives[n][1] < first or last < lives[n][0] for n in piece):
                piece.append(name)
                break
        else:
            pieces.append([name])
    for piece in pieces:
        piece.sort(key=lambda n: lives[n])
    return sorted(pieces, key=lambda piece: lives[piece[0]])


__all__ = ["share"]
