"""Random programs that are all seams: grid barriers, collectives, and what lives across them.

Variables, private arrays of many types, workgroup memory and device memory are used before, in,
between and after barriers over the grid, in nested loops that break and continue, next to early
returns and collectives. A random tree of statements has a private array in one segment of a
loop, and nowhere else, once in ten thousand programs.
"""

from __future__ import annotations

from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.seams.frame import Frame
from vyre.conform.generate.seams.stretches import Stretches
from vyre.ir import Program

__all__ = ["seams_case"]


def seams_case(seed: int) -> GeneratedCase:
    """The program with this seed: valid, terminating and free of races."""
    label = f"seams {seed}"
    dice = Dice(label)
    frame = Frame.of(dice)
    body = Stretches(dice, frame).program()
    program = Program.parse(frame.text(body))
    return GeneratedCase(program, frame.inputs(), frame.grid, frozenset(), label)
