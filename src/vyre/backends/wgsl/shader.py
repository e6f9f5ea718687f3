"""A shader as it is kept: its text, and what the host must know to launch it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from math import prod
from typing import Any, NamedTuple

from vyre.lower import fold_grid
from vyre.record import dataclass

WORD = 4
GRAIN = 16
"""The largest cell: buffers are whole numbers of it, so that any cell type can be bound to them."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An argument of a launch that is bound."""

    name: str
    """What the program calls it."""
    argument: int
    access: str
    """`read`, `read_write` or `uniform`."""
    element_bytes: int

    def size(self, count: int) -> int:
        """Bytes to bind for a number of elements: shaders take the length of arrays from it."""
        grain = GRAIN if self.access == "uniform" else WORD
        return -(-count * self.element_bytes // grain) * grain or GRAIN


@dataclass(frozen=True, slots=True)
class Shader:
    """A program in WGSL.

    Arguments are bound at 0, 1, ...; after them the launch record, if it has fields, and then the
    record of the first trap, if there are traps.
    """

    text: str
    general: str
    """The same for grids that had to be folded and for empty buffers: the launch record says how
    many elements and workgroups there are, and workgroups are renumbered at the start."""
    fields: tuple[str, ...]
    """What the launch record holds, each a u32."""
    general_fields: tuple[str, ...]
    """What it holds for the general text."""
    bindings: tuple[Bound, ...]
    lengths: tuple[tuple[str, int], ...]
    """Fields that hold the number of elements of an argument."""
    measured: tuple[int, ...]
    """Arguments whose length `text` takes from what is bound: they must not be empty."""
    tags: tuple[str, ...]
    """The tags of its traps."""
    locked: bool
    """Whether it guards elements by locks: their buffer is bound last."""
    workgroup_size: tuple[int, int, int]

    def to_bytes(self) -> bytes:
        """The shader for the cache."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Shader:
        """What `to_bytes` wrote."""
        values: dict[str, Any] = json.loads(data)
        x, y, z = values["workgroup_size"]
        return cls(
            text=values["text"],
            general=values["general"],
            fields=tuple(values["fields"]),
            general_fields=tuple(values["general_fields"]),
            bindings=tuple(Bound(**bound) for bound in values["bindings"]),
            lengths=tuple((name, argument) for name, argument in values["lengths"]),
            measured=tuple(values["measured"]),
            tags=tuple(values["tags"]),
            locked=bool(values["locked"]),
            workgroup_size=(x, y, z),
        )


GRID_FIELDS = ("total", "grid_x", "grid_y", "grid_z")
"""What the launch record of a general shader says of the grid."""


class Choice(NamedTuple):
    """Which text of a shader suits a launch, with the grid to launch and the launch record."""

    is_general: bool
    grid: tuple[int, int, int]
    record: list[int]


def choose(
    shader: Shader, counts: Sequence[int], grid: tuple[int, int, int], most_workgroups: int
) -> Choice:
    """How to launch a shader on arguments with these numbers of elements.

    ValueError when no grid of `most_workgroups` along each axis holds them all.
    """
    if prod(grid) >= 1 << 32:
        raise ValueError("shaders count workgroups in 32 bits")
    folded = fold_grid(grid, most_workgroups)
    values = {name: counts[place] for name, place in shader.lengths}
    if folded is None and all(counts[place] for place in shader.measured):
        return Choice(False, grid, [values.get(name, 0) for name in shader.fields])
    values |= dict(zip(GRID_FIELDS, (prod(grid), *grid), strict=True))
    launched = grid if folded is None else folded.launched
    return Choice(True, launched, [values.get(name, 0) for name in shader.general_fields])
