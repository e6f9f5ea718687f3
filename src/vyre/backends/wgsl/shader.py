"""A shader as it is kept: its text, and what the host must know to launch it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """An argument of a launch that is bound."""

    argument: int
    access: str
    """`read`, `read_write` or `uniform`."""
    element_bytes: int


@dataclass(frozen=True, slots=True)
class Shader:
    """A program in WGSL.

    Arguments are bound at 0, 1, ...; after them the launch record, if it has fields, and then the
    record of the first trap, if there are traps.
    """

    text: str
    folded: str
    """The same for grids that had to be folded: workgroups are renumbered at the start."""
    fields: tuple[str, ...]
    """What the launch record holds, each a u32."""
    bindings: tuple[Bound, ...]
    lengths: tuple[tuple[str, int], ...]
    """Fields that hold the number of elements of an argument."""
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
            folded=values["folded"],
            fields=tuple(values["fields"]),
            bindings=tuple(Bound(**bound) for bound in values["bindings"]),
            lengths=tuple((name, argument) for name, argument in values["lengths"]),
            tags=tuple(values["tags"]),
            locked=bool(values["locked"]),
            workgroup_size=(x, y, z),
        )


FOLD_FIELDS = ("total", "grid_x", "grid_y", "grid_z")
"""What the launch record of a folded grid holds beyond the others."""
