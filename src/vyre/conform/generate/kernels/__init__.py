"""Random kernels in the shapes that people write, and that a vectorising backend looks for.

Indices that are linear in the invocation, guards that leave a remainder, rows and strides, loops
over neighbours, small branches, tiles in workgroup memory: a random tree of statements has hardly
any of them. Lengths miss the number of invocations by a few, floats are NaN now and then, and
indices leave their buffers.
"""

from __future__ import annotations

from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.kernels.body import Statements
from vyre.conform.generate.kernels.expressions import Expressions
from vyre.conform.generate.kernels.frame import Frame
from vyre.ir import Program

__all__ = ["kernel_case"]


def kernel_case(seed: int) -> GeneratedCase:
    """The kernel with this seed: valid, terminating and free of races."""
    label = f"kernels {seed}"
    dice = Dice(label)
    frame = Frame.of(dice)
    statements = Statements(dice, frame, Expressions(dice, frame))
    program = Program.parse(frame.text(statements.kernel()))
    return GeneratedCase(program, frame.inputs(), frame.grid, frozenset(), label)
