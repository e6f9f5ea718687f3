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
    "add an array of {dtype} to the inputs: inputs[{name!r}] = array",
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
    "{fix}",
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
    "nothing says how many workgroups to run{why}",
    "{fix}",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "@vy.kernel\n"
        "def count(data: vy.In[vy.u8], counts: vy.InOut[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    counts.atomic_add(data[i], 1)\n"
        "count(np.zeros(1000, np.uint8), np.zeros(256, np.uint32))"
    ),
    explanation=(
        "The grid of a call that gives none follows from the stores and atomics of the kernel: "
        "from the comparisons that guard them, or from the array where each invocation has an "
        "element of its own. What every invocation does, however many there are, would also be "
        "done by those past the end, which read zeros."
    ),
)
BAD_GRID = Code(
    "D010",
    "impossible grid",
    "a grid of {grid} {problem}",
    "pass grid=(x, y, z) or elements=(x, y, z) in whole numbers; if it is too large, do more work "
    "in each invocation",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy()}, grid=-1)",
)
GRID_AND_ELEMENTS = Code(
    "D025",
    "grid and elements together",
    "the call gives both grid={grid} and elements={elements}",
    "give one of them: grid={grid} counts workgroups, or elements={elements} counts invocations",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy()}, grid=1, elements=8)",
)
NO_SUCH_GRID = Code(
    "D026",
    "bounds that no grid fits",
    "along {id} the bounds of the kernel, by its guards or the ends of its arrays, come to {found}",
    "correct {what}, or pass grid=(x, y, z)",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "@vy.kernel\n"
        "def first(parts: vy.u32, y: vy.InOut[vy.f32]):\n"
        "    i = vy.gid()\n"
        "    if i < len(y) // parts:\n"
        "        y[i] = 0.0\n"
        "first(0, np.ones(8, np.float32))"
    ),
    explanation=(
        "The host computes how many invocations are needed, in whole numbers that do not wrap "
        "around: a negative number of them is none, and one that no id fits is an error."
    ),
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
    "pass {instead}",
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
    "pass a copy and read the result from it: {copy}",
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
COPIED_ARRAY = Code(
    "D030",
    "array that only gives copies",
    "the buffer {name!r} is changed in place, and this {found} gives copies of its contents, in "
    "which the changes would be lost",
    "write copy = np.array({name}), pass copy, and put it back afterwards: {name}[...] = copy",
    example=(
        _ADD_ONE + "class Stored:\n"
        "    held = bytearray(32)\n"
        "    def __array__(self, dtype=None, copy=None):\n"
        "        return np.frombuffer(self.held, np.float32).copy()\n"
        "    def __setitem__(self, at, values):\n"
        "        np.frombuffer(self.held, np.float32)[at] = values\n"
        "y = Stored()\n"
        "vyre.run(program, {'x': x, 'y': y}, in_place=True)"
    ),
)
UNEVEN_ARRAY = Code(
    "D031",
    "array that is no whole number of elements",
    "the buffer {name!r} has elements of {size} and got {found}",
    "pass whole elements: cut the rest off, or fill the last one up",
    example=_ADD_ONE + "vyre.run(program, {'x': bytes(7), 'y': x})",
)
LONG_ARRAY = Code(
    "D032",
    "array that is too long",
    "the buffer {name!r} got {found} elements, and a buffer holds fewer than 2**32",
    "pass a part of it with each call",
)
WRONG_SIZE = Code(
    "D033",
    "contents of another size or shape",
    "a vyre array of {expected} was to hold {found}",
    "{fix}",
    example=(
        "import numpy as np\nimport vyre as vy\n"
        "vy.zeros(8, np.float32, device='cpu').write(np.ones(4, np.float32))"
    ),
)
BAD_SIZE = Code(
    "D034",
    "size that an output cannot have",
    "sizes says {found} for {name!r}, {problem}",
    "{fix}",
    example=_ADD_ONE + "vyre.run(program, {'x': x, 'y': x.copy()}, sizes={'z': 8})",
)
NO_TYPE = Code(
    "D035",
    "type that arrays cannot have",
    "arrays cannot be of the type {found}",
    "{fix}",
    example="import numpy as np\nimport vyre as vy\nx = np.ones(8, np.complex64)\nvy.array(x)",
)
BAD_SHAPE = Code(
    "D036",
    "shape that no array has",
    "{found} is {problem}",
    "{fix}",
    example="import numpy as np\nimport vyre as vy\nvy.zeros(-1, np.float32)",
)
FORKED_DEVICE = Code(
    "D041",
    "device of another process",
    "the device {name!r} was in use before this process was forked, and does not work in it",
    "start processes with multiprocessing.get_context('spawn'), or pass device='cpu' in the child",
    explanation=(
        "A driver has threads and locks of its own, and a forked process has neither. Processes "
        "that are spawned, or that are forked before any of them has used a WebGPU device, open "
        "it for themselves. Arrays on the device stay with the process that made them."
    ),
)
LAUNCHED_WHILE_LOADING = Code(
    "D044",
    "launch while vyre is loading",
    "a signal handler launches something while the call that it interrupted is still loading a "
    "part of vyre, for {module}",
    "launch it when that call has ended, or call the kernel once before the handler is set",
    explanation=(
        "Parts of vyre are imported when they are first needed, and a handler may come in the "
        "middle of that. The same thread cannot wait for what it is doing itself. If the handler "
        "catches this error and returns, the call that it interrupted goes on."
    ),
)
NOT_A_PROGRAM = Code(
    "D045",
    "not a program",
    "{found!r} is not a program",
    "pass a Program; a kernel makes one of itself with its method program",
    example=_ADD_ONE + "vyre.run(vyre.kernel, {'x': x})",
)
FORKED_LAUNCH = Code(
    "D042",
    "process forked during a launch",
    "a signal handler forked this process during the launch, and the threads that were at work "
    "are not in it",
    "launch again in the new process, or leave it with os._exit before the handler returns",
)
LONG_INDEX = Code(
    "D043",
    "index beyond what a kernel reads",
    "{text} {found}, and this kernel is right below {below} only",
    "convert ids and lengths before something is subtracted: vy.i64({text}) - 1",
    example=(
        "import numpy as np\n"
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(y: vy.Out[vy.f32]):\n"
        "    i = vy.gid()\n"
        "    y[i] = vy.f32(i - 1)\n"
        "\n"
        "k(np.zeros(4, np.float32), elements=2**31)"
    ),
    explanation=(
        "Differences of ids and lengths, such as i - 1, are read with their sign in 32 bits. A "
        "kernel that converts them to vy.i64 first takes up to 2**32 - 1 of everything."
    ),
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
    "please report it {reproducer}",
)
LOAD_FAILED = Code(
    "B003",
    "loading failed",
    "the backend {backend!r} failed to load the program {digest}: {problem}",
    "please report it {reproducer}",
)
LAUNCH_FAILED = Code(
    "B004",
    "launch failed",
    "the backend {backend!r} failed to run the program {digest}: {problem}",
    "please report it {reproducer}",
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
    GRID_AND_ELEMENTS,
    NO_SUCH_GRID,
    COPIED_ARRAY,
    UNEVEN_ARRAY,
    LONG_ARRAY,
    WRONG_SIZE,
    BAD_SIZE,
    NO_TYPE,
    BAD_SHAPE,
    FORKED_DEVICE,
    FORKED_LAUNCH,
    LAUNCHED_WHILE_LOADING,
    NOT_A_PROGRAM,
    LONG_INDEX,
    BAD_ARTIFACT,
    EMIT_FAILED,
    LOAD_FAILED,
    LAUNCH_FAILED,
    OUT_OF_MEMORY,
)
