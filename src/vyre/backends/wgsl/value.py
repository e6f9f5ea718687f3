"""A piece of WGSL that computes a value."""

from __future__ import annotations

from dataclasses import replace

from vyre.emit import Level, parenthesised
from vyre.ir import DataType
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """The text of an expression without side effects, and what is known of it."""

    text: str
    dtype: DataType
    level: Level = Level.PRIMARY
    constant: bool = False
    """Whether WGSL would evaluate it while compiling, where an overflow is an error."""
    product: bool = False
    """Whether it may be a float product, which a driver could fuse with a sum around it."""
    hidden: bool = False
    """Whether it is a float that no compiler sees through."""
    number: int | None = None
    """The bits of an integer literal."""

    def at(self, needed: Level) -> str:
        """The text as an operand that must hold together this tightly."""
        return parenthesised(self.text, self.level, needed)

    def named(self, name: str) -> Value:
        """The same value once it has a name."""
        return replace(self, text=name, level=Level.PRIMARY, constant=False, number=None)
