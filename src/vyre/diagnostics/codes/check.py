"""V0## names and accesses, V2## declarations, V3## control flow, V4## limits and targets.

Found by the checker. V1##, the types, stand in `typing.py` together with V001 and V002.
"""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code
from vyre.diagnostics.diagnostic import Severity

_HEAD = "program workgroup(64, 1, 1)\n\n"
_OUT = _HEAD + "buffer a: read_only u32[] @0\nbuffer out: read_write u32[] @1\n\n"
_TILE = _HEAD + "buffer out: read_write u32[] @0\nbuffer tile: workgroup u32[64]\n\n"
_PYTHON = "from vyre.ir import BufferDecl, DataType, Expr, Node, Program\n"

# --- V0##: names and accesses ---------------------------------------------------------------------

BOUND_TWICE = Code(
    "V003",
    "name bound twice in one scope",
    "the name {name!r} is already bound in this scope",
    "give the second variable another name, or change the first one with an assignment",
    example=_OUT + "let x = 1u32\nlet x = 2u32\n",
)
SHADOWED = Code(
    "V004",
    "name hides another",
    "the name {name!r} is already bound in a scope around this one",
    "give this variable another name, or change the outer one with an assignment",
    example=_OUT + "let x = 1u32\nif gid.x < 4u32 {\n    let x = 2u32\n}\n",
)
ASSIGN_UNKNOWN = Code(
    "V005",
    "assignment to an unknown variable",
    "there is no variable {name!r} to assign to",
    "bind it first, with let (in Python Node.let), in this scope or one around it",
    example=_OUT + "x = 1u32\n",
)
ASSIGN_LOOP_VARIABLE = Code(
    "V006",
    "assignment to a loop variable",
    "the loop variable {name!r} cannot be changed inside its loop",
    "copy it to a variable of your own, or count in a while loop",
    example=_OUT + "for i in 0u32..4u32 {\n    i = i + 1u32\n}\n",
)
NAMED_LIKE_BUFFER = Code(
    "V007",
    "variable named like a buffer",
    "the variable {name!r} has the name of a buffer",
    "rename the variable",
    example=_OUT + "let a = 1u32\n",
)
OUTSIDE_LOOP = Code(
    "V008",
    "break or continue outside a loop",
    "{what} stands outside of any loop",
    "move it into a loop or a while, or use return to end the invocation",
    example=_OUT + "break\n",
)
UNREACHABLE = Code(
    "V009",
    "unreachable statement",
    "this statement is never reached: what stands before it always leaves",
    "delete it, or make the statement before it conditional",
    example=_OUT + "return\nout[0] = 1u32\n",
    severity=Severity.WARNING,
)
NOT_READABLE = Code(
    "V010",
    "load from a write-only buffer",
    "the buffer {name!r} is write-only and cannot be read",
    "declare it read_write",
    example=_HEAD + "buffer w: write_only u32[] @0\n\nlet x = w[0]\n",
)
NOT_WRITABLE = Code(
    "V011",
    "store to a buffer that is only read",
    "the buffer {name!r} is {access} and cannot be written",
    "declare it read_write",
    example=_OUT + "a[0] = 1u32\n",
)
ATOMIC_MEMORY = Code(
    "V012",
    "atomic on unfit memory",
    "an atomic cannot work on {name!r}, which is {access} memory",
    "use a read_write buffer or workgroup memory; local arrays need no atomics",
    example=_OUT + "eval atomic_add(a[0], 1u32)\n",
)
INDEX_RANGE = Code(
    "V013",
    "constant index out of range",
    "the index {index} is outside of {name!r}, which {extent}",
    "use an index inside the buffer, or declare a larger count",
    example=_HEAD + "buffer out: read_write u32[4] @0\n\nout[4] = 1u32\n",
)
ZERO_DIVISOR = Code(
    "V014",
    "division by a literal zero",
    "the divisor of {op} is the literal 0",
    "divide by something else: a quotient of integers by zero is all ones, and the remainder zero",
    example=_OUT + "let x = gid.x / 0u32\n",
)
RESUME_TAG = Code(
    "V015",
    "resume without its trap",
    "no trap has the tag {tag!r} of this resume",
    "give it the tag of a trap, or remove it",
    example=_OUT + 'resume "again"\n',
)

# --- V2##: declarations ---------------------------------------------------------------------------

WORKGROUP_SIZE = Code(
    "V201",
    "impossible workgroup size",
    "a workgroup of {size} has {problem}",
    "give three positive extents whose product is below 2**32, such as (64, 1, 1)",
    example="program workgroup(0, 1, 1)\n\nlet x = 1u32\n",
)
BUFFER_TWICE = Code(
    "V202",
    "buffer declared twice",
    "the buffer {name!r} is declared more than once",
    "rename or remove one of the declarations",
    example=(
        _PYTHON + "a = BufferDecl.read('a', 0, DataType.U32)\n"
        "Program.wrapped([a, a.with_binding(1)], (64, 1, 1), []).validate()"
    ),
)
BINDING_TWICE = Code(
    "V203",
    "binding used twice",
    "the buffers {first!r} and {name!r} have the same binding {binding}",
    "give every buffer a binding of its own",
    example=_HEAD + "buffer a: read_only u32[] @0\nbuffer b: read_only u32[] @0\n\n",
)
NO_BINDING = Code(
    "V204",
    "buffer without a binding",
    "the buffer {name!r} is seen by the host and needs a binding",
    "give it a binding with with_binding(n); only workgroup, scratch and local memory has none",
    example=(
        _PYTHON + "a = BufferDecl.read('a', 0, DataType.U32).with_binding(None)\n"
        "Program.wrapped([a], (64, 1, 1), []).validate()"
    ),
)
NEEDS_NO_BINDING = Code(
    "V205",
    "binding on memory that the host never sees",
    "the buffer {name!r} is {kind} memory and cannot have the binding {binding}",
    "remove the binding, or declare a buffer that the host sees",
    example=(
        _PYTHON + "tile = BufferDecl.workgroup('tile', 64, DataType.U32).with_binding(0)\n"
        "Program.wrapped([tile], (64, 1, 1), []).validate()"
    ),
)
NEEDS_COUNT = Code(
    "V206",
    "memory without a size",
    "the buffer {name!r} is {kind} memory and needs a count",
    "give the number of elements: nothing at run time could say it",
    example=_HEAD + "buffer tile: workgroup u32[]\n\n",
)
UNSIZED_ELEMENT = Code(
    "V207",
    "elements of no size",
    "the buffer {name!r} must be allocated, but elements of type {element} have no size",
    "use a scalar or vector element",
    example=_HEAD + "buffer tile: workgroup tensor[4]\n\n",
)
BUFFER_FLAGS = Code(
    "V208",
    "buffer attributes that exclude each other",
    "the buffer {name!r} is {what}, which cannot be {flag}",
    "{advice}",
    example=(
        _PYTHON + "a = BufferDecl.read('a', 0, DataType.U32).with_pipeline_live_out()\n"
        "Program.wrapped([a], (64, 1, 1), []).validate()"
    ),
)
ACCESS_AND_KIND = Code(
    "V209",
    "access that does not fit the memory",
    "the buffer {name!r} has {access} access but lies in {kind} memory",
    "declare it with BufferDecl.read, read_write, output, uniform, workgroup, scratch or local",
    example=(
        _PYTHON + "from vyre.ir import MemoryKind\n"
        "a = BufferDecl.read('a', 0, DataType.U32).with_kind(MemoryKind.SHARED)\n"
        "Program.wrapped([a], (64, 1, 1), []).validate()"
    ),
)

# --- V3##: control flow, synchronisation and what the whole dispatch does -------------------------

DIVERGENT_BARRIER = Code(
    "V301",
    "barrier in divergent flow",
    "some invocations of a workgroup may miss this {what}, because {reason}",
    "move it out, so that the whole workgroup reaches it, and guard only the work around it",
    example=_TILE + "if lid.x < 32u32 {\n    barrier seq_cst\n}\n",
    explanation=(
        "A value is the same for a whole workgroup when it comes from literals, `wid`, "
        "`num_workgroups`, `len(...)`, and loads of read-only buffers at such indices. It is not "
        "when it comes from `lid` or `gid`, from memory that the program can write, from an "
        "atomic, or from a variable that was assigned where only some invocations went."
    ),
)
BARRIER_AFTER_LEAVING = Code(
    "V302",
    "barrier after some invocations left",
    "some invocations of a workgroup never reach this {what}, because {reason}",
    "let every invocation stay until the last barrier, and guard only the work with the condition",
    example=_TILE + "if lid.x > 31u32 {\n    return\n}\nbarrier seq_cst\n",
)
DIVERGENT_SUBGROUP = Code(
    "V303",
    "subgroup operation in divergent flow",
    "some invocations of a workgroup may miss this {what}, because {reason}",
    "compute it where all invocations of a workgroup are, and use the result inside",
    example=_OUT + "if gid.x < 32u32 {\n    out[gid.x] = subgroup_add(1u32)\n}\n",
)
DIVERGENT_ASYNC = Code(
    "V304",
    "async copy in divergent flow",
    "some invocations of a workgroup may miss this {what}, because {reason}",
    "start and await copies where the whole workgroup is: it copies together",
    example=(
        _TILE + "if lid.x < 32u32 {\n"
        '    async_store "t" out[0] <- tile[0], 64u32\n}\nasync_wait "t"\n'
    ),
)
BARRIER_ORDERING = Code(
    "V305",
    "barrier that orders nothing",
    "a barrier cannot be relaxed",
    "use acq_rel or seq_cst, or grid_sync for the whole grid",
    example=_TILE + "barrier relaxed\n",
)
ATOMIC_ORDERING = Code(
    "V306",
    "atomic with the ordering of a barrier",
    "grid_sync orders barriers, not an atomic",
    "use relaxed, acquire, release, acq_rel or seq_cst",
    example=(
        _PYTHON + "from vyre.ir import AtomicOp, MemoryOrdering\n"
        "out = BufferDecl.read_write('out', 0, DataType.U32)\n"
        "add = Expr.atomic(\n"
        "    AtomicOp.ADD, 'out', 0, Expr.u32(1), ordering=MemoryOrdering.GRID_SYNC\n"
        ")\n"
        "Program.wrapped([out], (64, 1, 1), [Node.eval(add)]).validate()"
    ),
)
GRID_SYNC_PLACE = Code(
    "V307",
    "grid sync where the program cannot be split",
    "{what} cannot stand inside {inside}",
    "put it at the top level, in regions and blocks there, or in loops the whole grid runs alike",
    example=_OUT + "if num_workgroups.x > 1u32 {\n    barrier grid_sync\n}\n",
)
GRID_SYNC_LOOP = Code(
    "V308",
    "grid sync in a loop that the grid does not run alike",
    "some workgroups may miss this grid sync, because {reason}",
    "make the bounds and exits of the loop the same for the whole grid",
    example=_OUT + "for k in 0u32..wid.x {\n    barrier grid_sync\n}\n",
)
LOST_WORKGROUP_MEMORY = Code(
    "V309",
    "workgroup memory read after a grid sync",
    "the workgroup buffer {name!r} is lost at a grid sync, and read before it is written again",
    "keep the data in a buffer, write it again after the sync, or end its copies before; the "
    "buffers of a Python kernel are its parameters, such as kept: vy.InOut[vy.f32]",
    example=(_TILE + "tile[lid.x] = gid.x\nbarrier grid_sync\nout[gid.x] = tile[lid.x]\n"),
)
ASYNC_OPERAND = Code(
    "V310",
    "async copy with operands that differ",
    "the operands of an async copy must be the same for the whole workgroup, but {reason}",
    "the workgroup copies together: give the start of the whole copy, not an invocation's part",
    example=_TILE + 'async_store "t" out[gid.x] <- tile[0], 1u32\nasync_wait "t"\n',
)
ASYNC_NOT_STARTED = Code(
    "V311",
    "wait for a copy that was never started",
    "no async copy with the tag {tag!r} is started before this wait",
    "start a copy with this tag first, or use a barrier",
    example=_TILE + 'async_wait "t"\n',
)
ASYNC_NOT_AWAITED = Code(
    "V312",
    "async copy that is never awaited",
    "no async_wait with the tag {tag!r} follows this copy",
    "wait for it before the program ends",
    example=_TILE + 'async_store "t" out[0] <- tile[0], 64u32\n',
)
ASYNC_MEMORY = Code(
    "V313",
    "async copy between unfit memories",
    "{what} copies {direction}, but {name!r} is {kind} memory",
    "async_load fills a workgroup buffer, async_store empties one; the other is a device buffer",
    example=(_OUT + 'async_load "t" out[0] <- a[0], 64u32\nasync_wait "t"\n'),
)
ASYNC_TYPES = Code(
    "V314",
    "async copy between different types",
    "an async copy moves {source} elements into {destination} elements",
    "give both buffers the same element type",
    example=(
        _HEAD + "buffer f: read_only f32[] @0\nbuffer tile: workgroup u32[64]\n\n"
        'async_load "t" tile[0] <- f[0], 64u32\nasync_wait "t"\n'
    ),
)
INDIRECT_PLACE = Code(
    "V315",
    "indirect dispatch that is not the first statement",
    "indirect_dispatch decides about the launch, so it must be the first statement",
    "move it to the beginning of the program, and have one only",
    example=_OUT + "let x = 1u32\nindirect_dispatch a[0]\n",
)
INDIRECT_BUFFER = Code(
    "V316",
    "indirect dispatch from an unfit buffer",
    "the grid cannot be read from {name!r}: {problem}",
    "use a readable u32 buffer that the host binds, with three elements from the offset on",
    example=_HEAD + "buffer n: read_only f32[3] @0\n\nindirect_dispatch n[0]\n",
)
COLLECTIVE_PLACE = Code(
    "V317",
    "collective inside other statements",
    "{what} joins whole devices and cannot stand inside {inside}",
    "put it at the top level of the program, or in regions and blocks there",
    example=_OUT + "if gid.x < 1u32 {\n    all_reduce add out\n}\n",
)
COLLECTIVE_BUFFER = Code(
    "V318",
    "collective on an unfit buffer",
    "{what} cannot use {name!r}: {problem}",
    "use device buffers of one element type: the source readable, the destination writable",
    example=_OUT + "all_reduce add a\n",
)
OPAQUE = Code(
    "V319",
    "statement that only an extension understands",
    "the opaque statement {kind!r} can be stored and printed, but nothing here can run it",
    "run the program on a backend that knows it, or replace it",
    example=_OUT + 'opaque my.extension hex"00" ()\n',
    severity=Severity.WARNING,
)

# --- V4##: limits and targets ---------------------------------------------------------------------

NESTING = Code(
    "V401",
    "statements nested too deeply",
    "this statement is {depth} levels deep; at most {limit} are allowed",
    "merge conditions with &, or leave early instead of nesting",
    example=(
        _PYTHON + "body = [Node.return_()]\n"
        "for _ in range(70):\n"
        "    body = [Node.block(body)]\n"
        "Program.wrapped([], (64, 1, 1), body).validate()"
    ),
)
EXPRESSION_DEPTH = Code(
    "V402",
    "expression nested too deeply",
    "this expression is {depth} levels deep; at most {limit} are allowed",
    "bind parts of it to names with let (in Python Node.let)",
    example=(
        _PYTHON + "x = Expr.gid(0)\n"
        "for _ in range(150):\n"
        "    x = x + Expr.u32(1)\n"
        "Program.wrapped([], (64, 1, 1), [Node.let('x', x)]).validate()"
    ),
)
STATEMENTS = Code(
    "V403",
    "program too long",
    "this program has {count} statements; at most {limit} are allowed",
    "split it into several programs, or use loops instead of repeated statements",
    example=(
        _PYTHON + "body = [Node.eval(Expr.u32(1))] * 100_000\n"
        "Program.wrapped([], (64, 1, 1), [Node.if_(Expr.bool_(True), body)]).validate()"
    ),
)
EXPRESSION_SIZE = Code(
    "V404",
    "expression too large",
    "written out, this expression has {count} nodes; at most {limit} are allowed",
    "bind what is used more than once to a name with let (in Python Node.let)",
    example=(
        _PYTHON + "x = Expr.gid(0)\n"
        "for _ in range(40):\n"
        "    x = x * x\n"
        "Program.wrapped([], (64, 1, 1), [Node.let('x', x)]).validate()"
    ),
)
MISSING_FEATURE = Code(
    "V410",
    "target lacks a feature",
    "the target {target} has no {feature}, which {what} needs",
    "{advice}",
    example=(
        _PYTHON + "from vyre.target import Target\n"
        "body = [Node.let('x', Expr.f64(1.0))]\n"
        "Program.wrapped([], (64, 1, 1), body).validate(Target('small'))"
    ),
)
TARGET_LIMIT = Code(
    "V411",
    "target limit exceeded",
    "{what} is {found}, and the target {target} allows {limit}",
    "{advice}",
    example=(
        _PYTHON + "from vyre.target import Limits, Target\n"
        "target = Target('small', limits=Limits(max_invocations=128))\n"
        "Program.wrapped([], (256, 1, 1), []).validate(target)"
    ),
)
OPAQUE_ON_TARGET = Code(
    "V412",
    "extension unknown to the target",
    "the target {target} does not know the opaque statement {kind!r}",
    "run the program on a backend that knows it, or replace it",
    example=(
        _PYTHON + "from vyre.target import Target\n"
        "body = [Node.opaque('my.extension')]\n"
        "Program.wrapped([], (64, 1, 1), body).validate(Target('small'))"
    ),
)

CODES = (
    BOUND_TWICE,
    SHADOWED,
    ASSIGN_UNKNOWN,
    ASSIGN_LOOP_VARIABLE,
    NAMED_LIKE_BUFFER,
    OUTSIDE_LOOP,
    UNREACHABLE,
    NOT_READABLE,
    NOT_WRITABLE,
    ATOMIC_MEMORY,
    INDEX_RANGE,
    ZERO_DIVISOR,
    RESUME_TAG,
    WORKGROUP_SIZE,
    BUFFER_TWICE,
    BINDING_TWICE,
    NO_BINDING,
    NEEDS_NO_BINDING,
    NEEDS_COUNT,
    UNSIZED_ELEMENT,
    BUFFER_FLAGS,
    ACCESS_AND_KIND,
    DIVERGENT_BARRIER,
    BARRIER_AFTER_LEAVING,
    DIVERGENT_SUBGROUP,
    DIVERGENT_ASYNC,
    BARRIER_ORDERING,
    ATOMIC_ORDERING,
    GRID_SYNC_PLACE,
    GRID_SYNC_LOOP,
    LOST_WORKGROUP_MEMORY,
    ASYNC_OPERAND,
    ASYNC_NOT_STARTED,
    ASYNC_NOT_AWAITED,
    ASYNC_MEMORY,
    ASYNC_TYPES,
    INDIRECT_PLACE,
    INDIRECT_BUFFER,
    COLLECTIVE_PLACE,
    COLLECTIVE_BUFFER,
    OPAQUE,
    NESTING,
    EXPRESSION_DEPTH,
    STATEMENTS,
    EXPRESSION_SIZE,
    MISSING_FEATURE,
    TARGET_LIMIT,
    OPAQUE_ON_TARGET,
)
