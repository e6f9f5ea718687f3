"""Texts that a pattern nearly matches: words of its language, changed a little."""

from __future__ import annotations

import random
from functools import lru_cache

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.syntax import Alternation, Class, Concat, Group, Node, Repeat

_NOISE = b"aaabbbcABk01_ -\n\n.\t\v\xe9\xc3\xa9Z"
_MOST_EXTRA = 3
"""Iterations beyond the least that a word takes of a repeat."""
_MOST_BYTES = 4_000


def word(dice: random.Random, root: Node) -> bytes:
    """A random word of the pattern's language; assertions are taken to hold."""
    written = bytearray()
    pending = [root]
    while pending and len(written) < _MOST_BYTES:
        match pending.pop():
            case Class(bits):
                written += _member(dice, bits)
            case Concat(items):
                pending += reversed(items)
            case Alternation(choices):
                pending.append(dice.choice(choices))
            case Repeat(body, least, most):
                extra = _MOST_EXTRA if most is None else min(most - least, _MOST_EXTRA)
                pending += [body] * min(least + dice.randint(0, extra), _MOST_BYTES)
            case Group(body):
                pending.append(body)
            case _:
                pass
    return bytes(written)


def _member(dice: random.Random, bits: int) -> bytes:
    """A byte of a set, from the noise if the set holds some of it."""
    likely, every = _members(bits)
    if likely and dice.random() < 0.8:
        return bytes([dice.choice(likely)])
    return bytes([dice.choice(every)]) if every else b""


@lru_cache(1_000)
def _members(bits: int) -> tuple[bytes, bytes]:
    """The bytes of a set that are in the noise, as often as they are, and all of them."""
    likely = bytes(byte for byte in _NOISE if bits >> byte & 1)
    return likely, bytes(byte_sets.members(bits))


def changed(dice: random.Random, text: bytes) -> bytes:
    """The text with one byte replaced, dropped, doubled or added."""
    data = bytearray(text)
    place = dice.randrange(len(data) + 1)
    match dice.randrange(5):
        case 0 if place < len(data):
            data[place] = dice.choice(_NOISE)
        case 1 if place < len(data):
            del data[place]
        case 2 if place < len(data):
            data[place] ^= 0x20
        case 3:
            data[place:place] = data[place : place + 2]
        case _:
            data.insert(place, dice.choice(_NOISE))
    return bytes(data)


def text_for(dice: random.Random, root: Node) -> bytes:
    """Noise with words and near misses in it."""
    parts: list[bytes] = []
    for _ in range(dice.choice((1, 1, 2, 3, 4))):
        kind = dice.random()
        if kind < 0.35:
            parts.append(bytes(dice.choices(_NOISE, k=dice.randrange(6))))
        elif kind < 0.7:
            parts.append(word(dice, root))
        else:
            parts.append(changed(dice, word(dice, root)))
    return b"".join(parts) + dice.choice((b"", b"", b"", b"\n", b"\n\n"))
