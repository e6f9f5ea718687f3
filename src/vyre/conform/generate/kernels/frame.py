"""What surrounds the body of a kernel: its workgroup and grid, its buffers and their contents."""

from __future__ import annotations

from math import prod

import numpy as np

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.values import array
from vyre.ir import DataType
from vyre.record import dataclass
from vyre.semantics import Array

Size = tuple[int, int, int]

_FLAT: tuple[Size, ...] = ((64, 1, 1), (64, 1, 1), (256, 1, 1), (37, 1, 1), (8, 1, 1), (1, 1, 1))
_DEEP: tuple[Size, ...] = ((16, 16, 1), (32, 4, 1), (8, 8, 1), (3, 7, 1), (64, 2, 1), (8, 4, 2))
_FLAT_GRIDS: tuple[Size, ...] = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1))
_DEEP_GRIDS: tuple[Size, ...] = ((1, 1, 1), (2, 2, 1), (3, 1, 1), (1, 3, 1), (2, 1, 2))
_COMPUTED = ("u32", "u32", "i32", "f32", "f32", "u8", "u16", "i64", "u64", "f64", "i8")
_HELD = (*_COMPUTED, "i16", "f16", "bf16", "bool")

BINS = 16
"""Counters that every invocation may add to."""
OWN = 8
"""Elements of the array that every invocation has to itself."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Everything about a kernel but what it does."""

    size: Size
    grid: Size
    computed: str
    """The type of the values that it computes with."""
    read: str
    """What `a` holds."""
    written: str
    """What `out` holds."""
    numbers: tuple[int, int, int, int, int]
    """What the kernel is told: width, height, length, bytes, and how large structures are."""
    contents: int
    """Chooses what is in the buffers."""

    @classmethod
    def of(cls, dice: Dice) -> Frame:
        """A random frame."""
        deep = dice.chance(4)
        size = dice.pick(_DEEP if deep else _FLAT)
        grid = dice.pick(_DEEP_GRIDS if deep else _FLAT_GRIDS)
        total = prod(size) * prod(grid)
        wide, high = size[0] * grid[0], size[1] * grid[1]
        numbers = (
            max(1, wide - dice.pick((0, 0, 1, 3, wide // 2, -2))),
            max(1, high - dice.pick((0, 0, 1, high // 2, -1))),
            max(1, total - dice.pick((0, 0, 0, 1, 3, 5, -4, total // 2, total - 2))),
            max(1, dice.pick((total, total, total + 7, total - 1, 3))),
            dice.pick((2, 3, 3, 4, 1, 5)),
        )
        types = dice.pick(_COMPUTED), dice.pick(_HELD), dice.pick(_HELD)
        return cls(size, grid, *types, numbers, dice.bits(30))

    @property
    def lanes(self) -> int:
        """How many invocations a workgroup has."""
        return prod(self.size)

    @property
    def total(self) -> int:
        """How many invocations there are."""
        return self.lanes * prod(self.grid)

    @property
    def is_deep(self) -> bool:
        """Whether there is more than one axis."""
        return self.lanes != self.size[0] or self.grid[1] * self.grid[2] > 1

    @property
    def lane(self) -> str:
        """The number of the invocation in its workgroup."""
        x, y, _ = self.size
        return f"((lid.z * {y} + lid.y) * {x} + lid.x)" if self.is_deep else "lid.x"

    @property
    def number(self) -> str:
        """The number of the invocation in the grid."""
        if not self.is_deep:
            return "gid.x"
        wide, high = self.size[0] * self.grid[0], self.size[1] * self.grid[1]
        if self.contents % 2:
            # As people write it who take the first axis for that of the rows.
            return f"((gid.z * {wide} + gid.x) * {high} + gid.y)"
        return f"((gid.z * {high} + gid.y) * {wide} + gid.x)"

    def text(self, body: str) -> str:
        """The program."""
        return f"""program workgroup{self.size}

buffer a: read_only {self.read}[] @0
buffer b: read_only u8[] @1
buffer f: read_only f32[] @2
buffer told: uniform u32[5] @3
buffer out: read_write {self.written}[] @4
buffer bins: read_write u32[{BINS}] @5
buffer tile: workgroup {self.computed}[{self.lanes}]
buffer mine: local u32[{OWN}]

region "kernel" {{
    let w = told[0]
    let h = told[1]
    let n = told[2]
    let s = told[4]
{body}}}
"""

    def inputs(self) -> dict[str, Array]:
        """The contents of the buffers."""
        dice = Dice(str(self.contents))
        _, _, length, many, _ = self.numbers
        counts = {"a": length, "b": many, "f": length, "out": length, "bins": BINS}
        types = {"a": self.read, "b": "u8", "f": "f32", "out": self.written, "bins": "u32"}
        found: dict[str, Array] = {
            name: array(dice, DataType.parse(types[name]), count, tame=False)
            for name, count in counts.items()
        }
        # Any comparison with a NaN is false, which turned-round conditions forget.
        found["f"][dice.below(7) :: 7] = np.nan
        return found | {"told": np.array(self.numbers, np.uint32)}
