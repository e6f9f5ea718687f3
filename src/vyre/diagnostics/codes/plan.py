"""P###: programs cannot be joined into one dispatch."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_TWO = """\
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.plan import fuse

def arm(size, dtype=DataType.U32, fast_math=False):
    out = BufferDecl.read_write("out", 0, dtype)
    body = [Node.store("out", Expr.gid(0), Expr.lit(1, dtype))]
    return Program.wrapped([out], (size, 1, 1), body, fast_math=fast_math)

"""

NOTHING = Code(
    "P001",
    "nothing to fuse",
    "there are no programs to fuse",
    "give at least one program",
    example="from vyre.plan import fuse\nfuse([])",
)
WORKGROUP_SIZES = Code(
    "P002",
    "arms of different workgroup sizes",
    "the arms have workgroup sizes {first} and {second}",
    "bring them to one size, or dispatch them one after the other",
    example=_TWO + "fuse([arm(64), arm(128)])",
)
BUFFERS_DIFFER = Code(
    "P003",
    "one name, two buffers",
    "the buffer {name!r} is {first} in one arm and {second} in another",
    "give the buffers different names, or the same type and count",
    example=_TWO + "fuse([arm(64), arm(64, DataType.I32)])",
)
FAST_MATH_DIFFERS = Code(
    "P004",
    "arms that disagree on fast math",
    "some arms allow float results to change and others do not",
    "set the flag on all of them, or on none",
    example=_TWO + "fuse([arm(64), arm(64, fast_math=True)])",
)
RETURN_ACROSS_SYNC = Code(
    "P005",
    "return in an arm with a grid barrier",
    "the arm {arm!r} has both a return and a barrier over the grid",
    "guard the rest of the arm with an if in place of the return",
    example=_TWO
    + """\
from vyre.ir import MemoryOrdering
sync = Node.barrier(MemoryOrdering.GRID_SYNC)
early = Program.wrapped(arm(64).buffers, (64, 1, 1), [Node.return_(), sync])
fuse([arm(64), early])""",
)
INDIRECT_ARM = Code(
    "P006",
    "arm that chooses its own grid",
    "the arm {arm!r} reads its grid from a buffer",
    "dispatch it by itself",
    example=_TWO
    + """\
counts = BufferDecl.read("counts", 1, DataType.U32)
own = Program.wrapped([counts], (64, 1, 1), [Node.indirect_dispatch("counts")])
fuse([arm(64), own])""",
)
UNSIZED_SCRATCH = Code(
    "P007",
    "scratch of unknown size",
    "the buffer {name!r} is to become scratch, but no arm declares its count",
    "declare the count in one of the arms: buffer.with_count(n)",
    example=_TWO + "fuse([arm(64)], scratch=['out'])",
)

CODES = (
    NOTHING,
    WORKGROUP_SIZES,
    BUFFERS_DIFFER,
    FAST_MATH_DIFFERS,
    RETURN_ACROSS_SYNC,
    INDIRECT_ARM,
    UNSIZED_SCRATCH,
)
