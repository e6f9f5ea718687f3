"""Parentheses where a reader or the grammar needs them, and nowhere else.

WGSL takes fewer mixtures of operators than C does, and people misread the same ones: bitwise
operators, shifts and comparisons stand between simple operands here, whatever the target.
"""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """How tightly an expression holds together."""

    LOOSE = 0
    """Bitwise operators, shifts, comparisons: always in parentheses inside another operator."""
    SUM = 1
    PRODUCT = 2
    UNARY = 3
    PRIMARY = 4
    """A name, a literal, a call, an element: never in parentheses."""


def parenthesised(text: str, level: Level, needed: Level) -> str:
    """`text` as an operand that must hold together at least as tightly as `needed`."""
    return text if level >= needed else f"({text})"
