"""A random program with everything that is needed to run it."""

from __future__ import annotations

from dataclasses import field

from vyre.ir import Program
from vyre.record import dataclass
from vyre.semantics import Array

Grid = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class GeneratedCase:
    """A program, the contents of its input buffers, and a grid to run it on."""

    program: Program
    inputs: dict[str, Array]
    """By name, for every buffer that the host gives contents."""
    grid: Grid
    approximate: frozenset[str] = field(default_factory=frozenset[str])
    """Buffers that hold results of approximate opcodes: compare them within their bounds."""
    label: str = ""
    """The profile and the seed it came from."""
    waiting: tuple[str, ...] = ()
    """Passes that wait for something that was put into it; it may be a race then."""

    def __str__(self) -> str:
        lines = [f"// {self.label}", f"// grid {self.grid}"]
        for name, contents in self.inputs.items():
            flat = contents.reshape(-1)
            shown = ", ".join(str(value) for value in flat[:8])
            more = ", ..." if flat.size > 8 else ""
            lines.append(f"// {name} = {contents.dtype}[{contents.shape[0]}] {shown}{more}")
        return "\n".join([*lines, str(self.program)])
