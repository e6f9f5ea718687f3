"""What a random function knows: the numbers of its kernel, its names, and what these hold.

A name has one kind for the whole of a function, as the kernel language has it. It may be read where
it certainly has a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from vyre.conform.generate.dice import Dice
from vyre.record import dataclass

Kind = str | tuple["Kind", ...]
"""What a name holds: a whole number, a real one, a truth value, or a tuple of these."""

WHOLE, REAL, TRUTH = "whole", "real", "truth"
NUMBERS = (WHOLE, REAL, TRUTH)
PAIR: Kind = (WHOLE, WHOLE)
TUPLES: tuple[Kind, ...] = (
    PAIR,
    (WHOLE, REAL),
    (WHOLE, TRUTH, WHOLE),
    (PAIR, WHOLE),
    (REAL, (WHOLE, PAIR)),
)

SMALL = 1023
"""What the numbers of variables and arrays stay within, where nothing may overflow."""
MOST = 1 << 30
"""What expressions stay within there."""

_NAMES = {
    # Ordinary names, and some that the translation, the language or Python have a use for.
    WHOLE: (
        *("a", "b", "c", "d", "count", "result", "t", "t_1", "old", "start", "stop", "step"),
        *("last", "rounds", "i", "chosen", "sum", "id", "loop", "let", "a_1", "best_0", "u32"),
        *("reversed_", "store", "p_1", "int", "once", "j", "e"),
    ),
    REAL: ("u", "v", "w", "near", "float", "i_1", "f32", "t_0", "v_1"),
    TRUTH: ("holds", "going", "done", "is_odd", "bool", "ok", "then"),
}
_OF_TUPLES = (("p", "best"), ("q", "at"), ("s", "state"), ("nest", "pairs"), ("deep", "mix"))


@dataclass(frozen=True, slots=True)
class World:
    """The whole numbers of one kernel."""

    dtype: str
    """Their type: `i32`."""
    wraps: bool
    """Whether they may leave its range. Then each has this type from where it begins."""

    @property
    def is_signed(self) -> bool:
        """Whether there are negative ones."""
        return self.dtype.startswith("i")

    @property
    def bits(self) -> int:
        """How wide they are."""
        return int(self.dtype[1:])

    @property
    def has_atomics(self) -> bool:
        """Whether arrays of them can be changed as one step."""
        return self.bits >= 32


@dataclass(slots=True)
class Scope:
    """The names of one function of Python."""

    kinds: dict[str, Kind] = field(default_factory=dict[str, Kind])
    """All names that have been bound so far."""
    bound: dict[str, Kind] = field(default_factory=dict[str, Kind])
    """Those that certainly have a value here."""
    fixed: set[str] = field(default_factory=set[str])
    """Names that are read and never assigned."""
    taken: set[str] = field(default_factory=set[str])
    """Names that mean something else in the function."""
    count: int = 0
    """How many names were made for a single use."""
    counters: list[str] = field(default_factory=list[str])
    """Variables of loops around, which are numbers without a type of their own."""

    def names(self, kind: Kind) -> list[str]:
        """Names that hold this and can be read."""
        return [name for name, one in self.bound.items() if one == kind]

    def tuples(self) -> list[tuple[str, Kind]]:
        """Names that hold tuples and can be read."""
        return [(name, one) for name, one in self.bound.items() if isinstance(one, tuple)]

    def target(self, dice: Dice, kind: Kind) -> str:
        """A name to bind: one that holds such a value already, or a new one."""
        known = [name for name, one in self.kinds.items() if one == kind and name not in self.fixed]
        if known and dice.chance(6):
            return dice.pick(known)
        return self.new(dice, kind)

    def new(self, dice: Dice, kind: Kind) -> str:
        """A name that nothing has had yet."""
        if isinstance(kind, str):
            wanted = _NAMES[kind]
        else:
            wanted = _OF_TUPLES[TUPLES.index(kind)] if kind in TUPLES else ("other",)
        free = [name for name in wanted if name not in self.kinds and name not in self.taken]
        name = dice.pick(free) if free and dice.chance(9) else f"n{len(self.kinds)}"
        self.kinds[name] = kind
        return name

    def fresh(self, prefix: str) -> str:
        """A name that nothing else has or gets."""
        self.count += 1
        return f"{prefix}{self.count}"

    def bind(self, name: str, kind: Kind) -> None:
        """The name has a value from here on."""
        self.kinds[name] = kind
        self.bound[name] = kind

    def unbind(self, name: str) -> None:
        """The name cannot be read from here on."""
        self.bound.pop(name, None)

    @contextmanager
    def block(self) -> Iterator[dict[str, Kind]]:
        """What is bound inside need not have a value behind it."""
        before = dict(self.bound)
        inside: dict[str, Kind] = {}
        counters = list(self.counters)
        try:
            yield inside
        finally:
            inside.update(self.bound)
            self.bound = before
            self.counters = counters
