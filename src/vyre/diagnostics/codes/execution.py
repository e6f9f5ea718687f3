"""X###: a kernel ended badly, the sanitizer found a defect, or a run was asked for wrongly."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code
from vyre.diagnostics.diagnostic import Severity

_HEAD = "program workgroup(64, 1, 1)\n\nbuffer out: read_write u32[64] @0\n\n"
_TILE = (
    "program workgroup(64, 1, 1)\n\n"
    "buffer out: read_write u32[64] @0\nbuffer tile: workgroup u32[64]\n\n"
)

TRAP = Code(
    "X001",
    "the kernel trapped",
    "invocation {invocation} stopped the dispatch: {tag}",
    "the kernel checks this itself: look at what the invocation was given",
    example=_HEAD + 'if gid.x == 3u32 {\n    trap "three is not allowed"\n}\n',
)
DEADLINE = Code(
    "X002",
    "past the deadline",
    "the kernel was still running after {seconds} s and was stopped",
    "look for a loop that does not end, or give a later deadline",
    example=_HEAD + "while true {\n}\n",
    explanation="Runs are stopped on the reference and on the CPU. The process stays usable.",
)
OUT_OF_FUEL = Code(
    "X003",
    "out of fuel",
    "the kernel executed more than {fuel} statements, counted over all invocations",
    "look for a loop that does not end, or give more fuel",
    example=_HEAD + "while true {\n}\n",
)
OPAQUE = Code(
    "X004",
    "statement of an extension",
    "this backend does not know statements of the kind {kind!r}",
    "run it on the backend that the extension belongs to, or remove the statement",
    example=_HEAD + 'opaque some.extension hex"" ()\n',
)
OUTSIDE_LOOP = Code(
    "X005",
    "not inside a loop",
    "{what} stands outside of every loop",
    "check the program with validate() before running it",
    example=_HEAD + "break\n",
)
BAD_RUN = Code(
    "X006",
    "a run that cannot be",
    "{what} cannot be {found}",
    "{expected}",
    example=("from vyre.backends.reference import RunOptions\nRunOptions(subgroup_width=48)"),
)
NO_MEMORY = Code(
    "X007",
    "no room for a buffer",
    "the host has no room for {nbytes} bytes",
    "use smaller buffers, or release others first",
    example=(
        "from vyre.backends.reference.backend import ReferenceDevice\n"
        "ReferenceDevice().allocate(1 << 60)"
    ),
)
DATA_RACE = Code(
    "X101",
    "data race",
    "{buffer}[{element}] is {first_did} by invocation {first} and {second_did} by invocation "
    "{second}, and nothing orders the two{more}",
    "{hint}",
    example=_TILE + "tile[lid.x] = lid.x\nout[gid.x] = tile[63u32 - lid.x]\n",
    explanation=(
        "Two invocations use the same element, one of them writes it, not both are atomic, and no "
        "barrier stands between. The element's value is then unspecified."
    ),
)
BARRIER_MISSED = Code(
    "X102",
    "barrier not reached by all",
    "only {arrived} of the {invocations} invocations of workgroup {workgroup} come to "
    "this barrier{more}",
    "move the barrier to where all invocations of the workgroup come, and let none leave before",
    example=_HEAD + "if lid.x < 7u32 {\n    barrier seq_cst\n}\n",
)
OUT_OF_BOUNDS = Code(
    "X103",
    "access out of bounds",
    "invocation {invocation} {did} {buffer}[{element}], which has {length} elements{more}",
    "guard the access with a comparison of the index and the length",
    example=_HEAD + "out[gid.x + 1u32] = 1u32\n",
    explanation=(
        "Such a load gives zero and such a store does nothing, on every device; it is still "
        "seldom what was meant."
    ),
    severity=Severity.WARNING,
)
NEVER_WRITTEN = Code(
    "X104",
    "read of memory never written",
    "invocation {invocation} reads {buffer}[{element}], which nothing has written{more}",
    "write it first; what is there is zero on every device",
    example=_TILE + "out[gid.x] = tile[lid.x]\n",
    severity=Severity.WARNING,
)
DIVISION_BY_ZERO = Code(
    "X105",
    "integer division by zero",
    "invocation {invocation} divides by zero{more}",
    "test the divisor first; the quotient is all ones and the remainder 0 on every device",
    example=_HEAD + "out[gid.x] = 100u32 / gid.x\n",
    severity=Severity.WARNING,
)
GUARD_NOT_REACHED = Code(
    "X110",
    "grid that ends before a guard",
    "the guards of this statement let {needed} invocations along {id} through, and the launch has "
    "{launched}",
    "leave out both grid and elements, or pass elements={elements}",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "@vy.kernel\n"
        "def doubled(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):\n"
        "    i = vy.gid()\n"
        "    if i < len(x):\n"
        "        y[i] = 2.0 * x[i]\n"
        "x = np.ones(1000, np.float32)\n"
        "print(*doubled.reference(x, np.zeros_like(x), grid=4))"
    ),
    explanation="What is left out keeps the value that it had. It may be meant so.",
    severity=Severity.WARNING,
)
WRAPPED_DIFFERENCE = Code(
    "X112",
    "difference that wrapped around",
    "invocation {invocation} subtracts a larger unsigned number from a smaller one and takes the "
    "result for a number{more}",
    "compare the two before you subtract, or convert both to a signed type",
    example=_HEAD + "out[gid.x] = (gid.x - 2u32) / 2u32\n",
    explanation=(
        "Unsigned differences are right modulo the range of their type, so that sums of them come "
        "out right. Where one becomes a float, is divided, shifted to the right, ordered or ends a "
        "loop, it is a large number instead of a negative one."
    ),
    severity=Severity.WARNING,
)
PAST_ELEMENTS = Code(
    "X111",
    "effect past the elements of a launch",
    "invocation {invocation} does this, and elements={elements} ends before it{more}",
    "{guard}",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "@vy.kernel\n"
        "def count(data: vy.In[vy.u8], counts: vy.InOut[vy.u32]):\n"
        "    counts.atomic_add(data[vy.gid()], 1)\n"
        "data = np.ones(10, np.uint8)\n"
        "print(*count.reference(data, np.zeros(256, np.uint32), elements=10))"
    ),
    explanation=(
        "Workgroups are launched whole, so that there are more invocations than elements. A store "
        "out of bounds does nothing; an atomic or a store at an index that is not the invocation's "
        "own is done by all of them."
    ),
    severity=Severity.WARNING,
)

CODES = (
    TRAP,
    DEADLINE,
    OUT_OF_FUEL,
    OPAQUE,
    OUTSIDE_LOOP,
    BAD_RUN,
    NO_MEMORY,
    DATA_RACE,
    BARRIER_MISSED,
    OUT_OF_BOUNDS,
    NEVER_WRITTEN,
    DIVISION_BY_ZERO,
    GUARD_NOT_REACHED,
    PAST_ELEMENTS,
    WRAPPED_DIFFERENCE,
)
