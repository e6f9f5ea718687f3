"""The buffers of a program of seams: what each invocation owns, and what passes between them."""

from __future__ import annotations

from math import prod

import numpy as np

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.values import array
from vyre.ir import DataType
from vyre.record import dataclass
from vyre.semantics import Array

Size = tuple[int, int, int]

_WORKGROUPS: tuple[Size, ...] = ((1, 1, 1), (4, 1, 1), (8, 1, 1), (5, 1, 1), (3, 2, 1), (2, 1, 2))
_GRIDS: tuple[Size, ...] = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 2))
_ELEMENTS = ("u32", "u32", "u32", "i32", "u8", "i16", "u64", "f32", "bool")
"""What private arrays and workgroup memory hold."""
_LONGER = 3
"""Elements that a collective into the longest buffer leaves as they are."""
BOUNDS = 4
"""Trip counts that the host gives."""


@dataclass(frozen=True, slots=True)
class Cells:
    """An array that is not the host's: elements are written and read as numbers of type u32."""

    name: str
    element: str
    count: int

    def stored(self, value: str) -> str:
        """A number as an element."""
        match self.element:
            case "u32":
                return value
            case "f32":
                # What a float holds exactly.
                return f"f32(({value}) & 65535u32)"
            case "bool":
                return f"({value}) % 2u32 == 1u32"
            case other:
                return f"{other}({value})"

    def loaded(self, index: str) -> str:
        """An element as a number."""
        element = f"{self.name}[{index}]"
        return element if self.element == "u32" else f"u32({element})"


@dataclass(frozen=True, slots=True)
class Frame:
    """Sizes, and the names of everything."""

    size: Size
    grid: Size
    private: tuple[Cells, ...]
    shared: tuple[Cells, ...]
    relays: tuple[str, ...]
    """Device memory with one element per invocation."""
    hidden: frozenset[str]
    """Relays that the host does not see."""
    rounds: tuple[int, ...]
    given: Array

    @classmethod
    def of(cls, dice: Dice) -> Frame:
        """A random frame."""
        size, grid = dice.pick(_WORKGROUPS), dice.pick(_GRIDS)
        private = tuple(
            Cells(f"mine{k}", dice.pick(_ELEMENTS), dice.pick((1, 2, 5)))
            for k in range(dice.between(2, 4))
        )
        lanes = prod(size)
        shared = tuple(
            Cells(f"tile{k}", dice.pick(_ELEMENTS), lanes + dice.pick((0, 0, 3)))
            for k in range(dice.between(0, 2))
        )
        relays = tuple(f"relay{k}" for k in range(dice.between(1, 4)))
        hidden = frozenset(name for name in relays if dice.chance(5))
        rounds = tuple(dice.pick((0, 1, 2, 3)) for _ in range(BOUNDS))
        total = lanes * prod(grid)
        given = array(dice, DataType.U32, total, tame=False)
        return cls(size, grid, private, shared, relays, hidden, rounds, given)

    @property
    def lanes(self) -> int:
        """Invocations of a workgroup."""
        return prod(self.size)

    @property
    def total(self) -> int:
        """Invocations of the grid."""
        return self.lanes * prod(self.grid)

    def inputs(self) -> dict[str, Array]:
        """What the host gives."""
        tail = np.arange(self.total + _LONGER, dtype=np.uint32) + 1
        return {"given": self.given, "n": np.array(self.rounds, np.uint32), "tail": tail}

    def text(self, body: list[str]) -> str:
        """The whole program."""
        lines = [
            f"program workgroup{self.size}",
            f"buffer given: read_only u32[{self.total}] @0",
            f"buffer n: uniform u32[{BOUNDS}] @1",
            f"buffer out: read_write u32[{self.total}] @2 output live_out",
            "buffer count: read_write u32[4] @3 output live_out",
            f"buffer tail: read_write u32[{self.total + _LONGER}] @4",
        ]
        binding = 5
        for name in self.relays:
            if name in self.hidden:
                lines.append(f"buffer {name}: scratch u32[{self.total}]")
            else:
                lines.append(
                    f"buffer {name}: read_write u32[{self.total}] @{binding} output live_out"
                )
                binding += 1
        lines += [f"buffer {c.name}: local {c.element}[{c.count}]" for c in self.private]
        lines += [f"buffer {c.name}: workgroup {c.element}[{c.count}]" for c in self.shared]
        return "\n".join([*lines, "", *body, ""])

    def linear(self) -> str:
        """The number of an invocation in the grid."""
        sx, sy, _ = self.size
        gx, gy, _ = self.grid
        return f"gid.x + (gid.y + gid.z * {sy * gy}u32) * {sx * gx}u32"

    def lane(self) -> str:
        """The number of an invocation in its workgroup."""
        sx, sy, _ = self.size
        return f"lid.x + (lid.y + lid.z * {sy}u32) * {sx}u32"
