"""A piece of WGSL that computes a value."""

from __future__ import annotations

from enum import Flag

from vyre.emit import Level, parenthesised
from vyre.ir import DataType
from vyre.record import dataclass


class Seen(Flag):
    """What a driver may find out about a float, and combine with what is done to it next."""

    NOTHING = 0
    SUM = 1
    """That it is a sum or a difference."""
    PRODUCT = 2
    """That it is a product or a quotient."""
    NUMBER = 4
    """Which number it is."""
    ALL = 7


@dataclass(frozen=True, slots=True)
class Value:
    """The text of an expression without side effects, and what is known of it."""

    text: str
    dtype: DataType
    level: Level = Level.PRIMARY
    constant: bool = False
    """Whether WGSL would evaluate it while compiling, where an overflow is an error."""
    seen: Seen = Seen.NOTHING
    """What a driver may see of a float."""
    opaque: bool = False
    """Whether it comes from where no driver can look."""
    number: int | None = None
    """The bits of an integer literal."""
    harmless: bool = False
    """Whether it is a float literal that leaves no number as it is, nor makes it another one."""

    def at(self, needed: Level) -> str:
        """The text as an operand that must hold together this tightly."""
        return parenthesised(self.text, self.level, needed)

    def named(self, name: str) -> Value:
        """The same value once it has a name."""
        return Value(name, self.dtype, seen=self.seen)

    def shows(self, what: Seen) -> bool:
        """Whether a driver may see any of this in it; in a constant it sees everything."""
        return self.constant or bool(self.seen & what)
