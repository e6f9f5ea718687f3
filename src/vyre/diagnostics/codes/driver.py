"""D###: a launch was asked for wrongly. B###: a backend failed."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_ADD_ONE = """\
import numpy as np
import vyre
program = vyre.Program.parse('''
program workgroup(64, 1, 1)
buffer x: read_only f32[] @0
buffer y: read_write f32[] @1
region "add_one" { if gid.x < len(y) { y[gid.x] = x[gid.x] + 1.0f32 } }
''')
x = np.zeros(8, np.float32)
"""
_FIXED = _ADD_ONE.replace("x: read_only f32[]", "x: read_only f32[8]")

UNKNOWN_DEVICE = Code(
    "D001",
    "unknown device",
    "there is no device {name!r}",
    "choose one of: {known}",
    example="import vyre\nvyre.array([1.0], device='gpu')",
)
DEVICE_UNAVAILABLE = Code(
    "D002",
    "device not available",
    "the device {name!r} is not available: {reason}",
    "{remedy}",
)
MISSING_INPUT = Code(
    "D003",
    "missing input",
    "the buffer {name!r} got no array",
    "pass it: inputs={{{name!r}: array of {dtype}}}",
    example=_ADD_ONE + "vyre.run(program, {'x': x})",
)
UNKNOWN_INPUT = Code(
    "D004",
    "input for no buffer",
    "the program has no input {name!r}",
    "leave it out; the inputs are: {known}",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy(), 'z': x})",
)
WRONG_DTYPE = Code(
    "D005",
    "array of the wrong type",
    "the buffer {name!r} takes {expected}, not {found}",
    "convert it: array.astype({expected!r})",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': np.zeros(8)})",
)
SHORT_BUFFER = Code(
    "D006",
    "array of the wrong length",
    "the buffer {name!r} is declared with {expected} elements and got {found}",
    "pass an array of the declared length, or declare the buffer without a count",
    example=_FIXED + "vyre.run(program, {'x': x[:4], 'y': x.copy()})",
)
WRONG_SLOTS = Code(
    "D007",
    "wrong number of inputs",
    "the program takes {expected} inputs by position and got {found}",
    "pass them in the order of declaration: {known}",
    example=_ADD_ONE + "vyre.run(program, [x])",
)
UNSIZED_OUTPUT = Code(
    "D008",
    "output of unknown size",
    "nothing says how long the output {name!r} is",
    "declare its count, or pass sizes={{{name!r}: n}}",
)
NO_GRID = Code(
    "D009",
    "grid of unknown size",
    "nothing says how many workgroups to run",
    "pass grid=(x, y, z) or elements=n",
)
BAD_GRID = Code(
    "D010",
    "impossible grid",
    "a grid of {grid} {problem}",
    "pass grid=(x, y, z) or elements=n in whole numbers; if it is too large, do more work in each "
    "invocation",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy()}, grid=-1)",
)
ALIASED = Code(
    "D011",
    "one array bound twice",
    "the buffers {first!r} and {second!r} share memory and {written!r} is written",
    "pass a copy for one of them",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x}, in_place=True)",
)
NOT_AN_ARRAY = Code(
    "D012",
    "not an array",
    "the buffer {name!r} cannot be bound to {found}",
    "pass a numpy array, a vyre array, bytes, or anything with the buffer protocol or DLPack",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': object()})",
)
BAD_DEADLINE = Code(
    "D013",
    "impossible deadline",
    "a deadline of {found!r} makes no sense",
    "give seconds as a positive number, or None",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy()}, deadline=-1)",
)
READ_ONLY_ARRAY = Code(
    "D014",
    "array that cannot be written",
    "the buffer {name!r} is changed in place, which {found} does not allow",
    "pass a writable numpy array, or read the result from what run returns",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': bytes(32)}, in_place=True)",
)
WRONG_DEVICE = Code(
    "D015",
    "array of another device",
    "the array for {name!r} lives on {found} and the program runs on {expected}",
    "pass device={found!r}, or move the array: vyre.array(x, device={expected!r})",
    example=(
        _ADD_ONE + "y = vyre.array(x, device='reference')\n"
        "vyre.run(program, {'x': x, 'y': y}, device='cpu')"
    ),
)
FREED_ARRAY = Code(
    "D017",
    "array that has been freed",
    "{array} cannot be used any more",
    "make a new one with vyre.array, or free it later",
    example=_ADD_ONE
    + "y = vyre.array(x, device='cpu')\ny.free()\nvyre.run(program, {'x': x, 'y': y})",
)
UNKNOWN_AREA = Code(
    "D018",
    "unknown area of the conformance suite",
    "the conformance suite has no area {name!r}",
    "choose from: {known}",
    example="from vyre import conform\nconform.run('cpu', ['arithmetic'])",
)
NOT_A_BACKEND = Code(
    "D019",
    "not a backend",
    "{found} is not a backend: it has no {missing}",
    "pass the id of a device, or an object with name, probe, target, emit and load",
    example="from vyre import conform\nconform.run(42)",
)
WRONG_NUMBER = Code(
    "D020",
    "number that the type does not hold",
    "{name!r} is of the type {expected}, which does not hold {found}",
    "{fix}",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "@vy.kernel\n"
        "def fill(value: vy.u8, y: vy.Out[vy.u8]):\n"
        "    y[vy.gid()] = value\n"
        "fill(300, np.zeros(8, np.uint8))"
    ),
)
DEADLINE_BETWEEN = Code(
    "D016",
    "deadline between segments",
    "the deadline passed before the whole program had run",
    "give a longer deadline, or less work",
)
BAD_ARTIFACT = Code(
    "B001",
    "artifact cannot be read",
    "a compiled program cannot be read: {problem}",
    "clear the cache with `vyre cache clear` and compile again",
    example="from vyre.driver.artifact import Artifact\nArtifact.from_bytes(b'torn')",
)
EMIT_FAILED = Code(
    "B002",
    "code generation failed",
    "the backend {backend!r} failed to compile the program {digest}: {problem}",
    "please report it with the reproducer {reproducer}",
)
LOAD_FAILED = Code(
    "B003",
    "loading failed",
    "the backend {backend!r} failed to load the program {digest}: {problem}",
    "please report it with the reproducer {reproducer}",
)
LAUNCH_FAILED = Code(
    "B004",
    "launch failed",
    "the backend {backend!r} failed to run the program {digest}: {problem}",
    "please report it with the reproducer {reproducer}",
)
OUT_OF_MEMORY = Code(
    "B005",
    "out of device memory",
    "{device} has no room for {nbytes} bytes ({in_use} in use)",
    "free arrays, use smaller buffers, or another device",
)

CODES = (
    UNKNOWN_DEVICE,
    DEVICE_UNAVAILABLE,
    MISSING_INPUT,
    UNKNOWN_INPUT,
    WRONG_DTYPE,
    SHORT_BUFFER,
    WRONG_SLOTS,
    UNSIZED_OUTPUT,
    NO_GRID,
    BAD_GRID,
    ALIASED,
    NOT_AN_ARRAY,
    BAD_DEADLINE,
    READ_ONLY_ARRAY,
    WRONG_DEVICE,
    DEADLINE_BETWEEN,
    FREED_ARRAY,
    UNKNOWN_AREA,
    NOT_A_BACKEND,
    WRONG_NUMBER,
    BAD_ARTIFACT,
    EMIT_FAILED,
    LOAD_FAILED,
    LAUNCH_FAILED,
    OUT_OF_MEMORY,
)
