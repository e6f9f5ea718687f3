"""Loads of workgroup memory on which a barrier depends.

    barrier; let n = tile[0]; barrier; if n > 3 { …; barrier }

Compilers of WGSL in browsers refuse the last barrier, unless the value comes from
`workgroupUniformLoad`, which contains two barriers. So only programs in which some barrier depends
on more than what the grid agrees on have such loads.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import Level, ProgramFacts, Uniformity
from vyre.backends.wgsl.memory import Buffer, Cells


class AgreedLoads:
    """Which loads of a program have to be written as loads that a workgroup agrees on."""

    def __init__(self, program: ir.Program) -> None:
        self._uniformity = Uniformity.of(program)
        self._wanted = any(
            isinstance(statement, ir.Barrier)
            and self._uniformity.control(position) is Level.WORKGROUP
            for position, statement in enumerate(ProgramFacts.of(program).statements)
        )

    def of(self, value: ir.AnyExpr, position: int) -> ir.Load | None:
        """The load that gives a variable its value, if the workgroup must agree on it."""
        while isinstance(value, ir.Cast):
            value = value.value
        if not self._wanted or not isinstance(value, ir.Load):
            return None
        if value.buffer not in self._uniformity.settled(position):
            return None
        return value if self._uniformity.level_of(value, position) <= Level.WORKGROUP else None


def agreed(buffer: Buffer, text: str) -> str:
    """The load of one cell as one that the workgroup agrees on; atomics have none."""
    return f"workgroupUniformLoad(&{text})" if buffer.cells is Cells.PLAIN else text
