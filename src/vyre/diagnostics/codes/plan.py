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
    "the arm {one!r} has workgroups of {first} invocations and the arm {two!r} of {second}",
    "bring them to one size, or dispatch them one after the other",
    example=_TWO + "fuse([arm(64), arm(128)])",
)
BUFFERS_DIFFER = Code(
    "P003",
    "one name, two buffers",
    "the buffer {name!r} is {first} in the arm {one!r} and {second} in the arm {two!r}",
    "give the buffers different names, or the same type and count",
    example=_TWO + "fuse([arm(64), arm(64, DataType.I32)])",
)
FAST_MATH_DIFFERS = Code(
    "P004",
    "arms that disagree on fast math",
    "the arm {fast!r} allows float results to change and the arm {exact!r} does not",
    "set the flag on all of them, or on none",
    example=_TWO + "fuse([arm(64), arm(64, fast_math=True)])",
)
RETURN_ACROSS_SYNC = Code(
    "P005",
    "return before a grid barrier of its arm",
    "in the arm {arm!r}, which is not the last, a barrier over the grid follows a return",
    "put what the return skips, but not the barriers, under ifs in place of the return; "
    "or make it the last arm; or dispatch it by itself",
    example=_TWO
    + """\
from vyre.ir import MemoryOrdering
sync = Node.barrier(MemoryOrdering.GRID_SYNC)
early = Program.wrapped(arm(64).buffers, (64, 1, 1), [Node.return_(), sync])
fuse([early, arm(64)])""",
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

NAMES = Code(
    "P008",
    "names that are not one per arm",
    "there are {names} names for {programs} programs",
    "give a name for each program, or none at all",
    example=_TWO + "fuse([arm(64), arm(64)], ['first'])",
)
UNKNOWN_SCRATCH = Code(
    "P009",
    "scratch that no arm has",
    "there is no buffer {name!r} that arms could share",
    "name one of: {known}",
    example=_TWO + "fuse([arm(64)], scratch=['oout'])",
)
INVALID_TOGETHER = Code(
    "P010",
    "arms that are not valid in one program",
    "the arms {arms} do not make a valid program: {problem}",
    "dispatch them one after the other",
    example=_TWO
    + """\
rounds = BufferDecl.read("out", 0, DataType.U32)
loop = Node.loop("k", 0, Expr.load("out", 0), [Node.barrier()])
fuse([arm(64), Program.wrapped([rounds], (64, 1, 1), [loop])])""",
    explanation="What holds in a program alone may not hold beside others: a value that is loaded "
    "from memory that no other arm writes is the same for a workgroup, for one.",
)
INVALID_ARM = Code(
    "P011",
    "arm that is not valid",
    "the arm {arm!r} is not a valid program: {problem}",
    "repair it first: program.check() lists what is wrong with it",
    example=_TWO
    + """\
wrong = Program.wrapped(arm(64).buffers, (64, 1, 1), [Node.assign("k", Expr.u32(1))])
fuse([arm(64), wrong])""",
)

NO_PROGRAM = Code(
    "P012",
    "arm that is no program",
    "{what}",
    "give a list of programs, in their order; a kernel makes one of itself with its method program",
    example="from vyre.plan import fuse\nfuse(['saxpy'])",
)
BAD_NAME = Code(
    "P013",
    "name that no arm can have",
    "{name!r} cannot name an arm",
    "give printable text of at most 4096 characters, without line breaks",
    example=_TWO + "fuse([arm(64), arm(64)], ['first', 'sec\\nond'])",
)

CODES = (
    NOTHING,
    WORKGROUP_SIZES,
    BUFFERS_DIFFER,
    FAST_MATH_DIFFERS,
    RETURN_ACROSS_SYNC,
    INDIRECT_ARM,
    UNSIZED_SCRATCH,
    NAMES,
    UNKNOWN_SCRATCH,
    INVALID_TOGETHER,
    INVALID_ARM,
    NO_PROGRAM,
    BAD_NAME,
)
