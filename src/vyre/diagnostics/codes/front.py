"""F###: a Python function cannot become a program, or a kernel was called wrongly."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

NO_SOURCE = Code(
    "F001",
    "function without source",
    "Python does not have the source of {name}, which was defined in {file}",
    "put the kernel into a file, or into a cell of a notebook",
    example=("import vyre as vy\n\nvy.kernel(eval('lambda x: 0'))"),
)
NOT_A_FUNCTION = Code(
    "F002",
    "not a function",
    "{form} decorates a function, not {found}",
    "write it above a plain def: @{form}",
    example=("import vyre as vy\n\nvy.kernel(3)"),
)
PARAMETER = Code(
    "F003",
    "parameter without a type",
    "the parameter {name!r} {problem}",
    "{fix}",
    example=("import vyre as vy\n\n@vy.kernel\ndef k(x):\n    pass\n\nk.program()"),
)
BAD_ELEMENT = Code(
    "F004",
    "array of an impossible type",
    "vy.{form}[...] holds numbers of a type of vy, not {found}",
    "write vy.{form}[vy.f32], or another of bool_, u8 to u64, i8 to i64, f16, bf16, f32, f64",
    example=("import vyre as vy\n\nvy.In[str]"),
)
BAD_RANK = Code(
    "F005",
    "impossible number of axes",
    "vy.{form}[..., n] has 1 to 3 axes, not {found}",
    "write vy.{form}[vy.f32, 2]",
    example=("import vyre as vy\n\nvy.In[vy.f32, 4]"),
)
BAD_STATIC = Code(
    "F006",
    "static parameter of an impossible type",
    "vy.static[...] holds an int, a float or a bool, not {found}",
    "write vy.static[int]",
    example=("import vyre as vy\n\nvy.static[str]"),
)
WORKGROUP = Code(
    "F007",
    "impossible workgroup",
    "a workgroup is one to three positive whole numbers, not {found!r}",
    "write @vy.kernel(workgroup=256) or workgroup=(16, 16)",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel(workgroup=0)\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    pass\n"
        "\n"
        "k.program()"
    ),
)
OUTSIDE = Code(
    "F008",
    "used outside of a kernel",
    "{name} means something only inside of a kernel",
    "call it in a function that is decorated with @vy.kernel or @vy.func",
    example=("import vyre as vy\n\nvy.gid()"),
)
STATEMENT = Code(
    "F009",
    "statement that kernels do not have",
    "a kernel cannot use {what}",
    "{instead}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    try:\n"
        "        x[0] = 1.0\n"
        "    finally:\n"
        "        pass\n"
        "\n"
        "k.program()"
    ),
)
EXPRESSION = Code(
    "F010",
    "expression that kernels do not have",
    "a kernel cannot use {what}",
    "{instead}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    y = [1.0, 2.0]\n"
        "\n"
        "k.program()"
    ),
)
UNKNOWN_NAME = Code(
    "F011",
    "unknown name",
    "there is no name {name!r} here",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = scale\n"
        "\n"
        "k.program()"
    ),
)
CAPTURED = Code(
    "F012",
    "object that a kernel cannot capture",
    "the name {name!r} is {what} outside of the kernel",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "table = [1.0, 2.0]\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = table[0]\n"
        "\n"
        "k.program()"
    ),
)
PLAIN_FUNCTION = Code(
    "F013",
    "call of a Python function",
    "a kernel cannot call the Python function {name}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "def double(v):\n"
        "    return v + v\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = double(x[0])\n"
        "\n"
        "k.program()"
    ),
)
FOREIGN = Code(
    "F014",
    "call of a function that kernels do not have",
    "a kernel cannot call {name}",
    "write {instead}",
    example=(
        "import vyre as vy\n"
        "\n"
        "import numpy as np\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = np.sqrt(x[0])\n"
        "\n"
        "k.program()"
    ),
)
NOT_CALLABLE = Code(
    "F015",
    "call of something that is no function",
    "{what} cannot be called",
    "call a function of vy, or one decorated with @vy.func",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    n = 3\n"
        "    x[0] = n(1)\n"
        "\n"
        "k.program()"
    ),
)
CALL = Code(
    "F016",
    "call with wrong arguments",
    "{name} {problem}",
    "write {form}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = vy.math.sqrt(x[0], 2.0)\n"
        "\n"
        "k.program()"
    ),
)
NO_ATTRIBUTE = Code(
    "F017",
    "unknown attribute",
    "{what} has no {name!r}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x.fill(0.0)\n"
        "\n"
        "k.program()"
    ),
)
NOT_INDEXABLE = Code(
    "F018",
    "index into something that is no array",
    "{what} has no elements",
    "index arrays, tuples of constants, x.shape and what a ballot gives",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    n = vy.gid()\n"
        "    x[0] = n[0]\n"
        "\n"
        "k.program()"
    ),
)
NOT_A_NUMBER = Code(
    "F019",
    "not a number",
    "{what} is not a number",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = x + 1.0\n"
        "\n"
        "k.program()"
    ),
)
NOT_A_TYPE = Code(
    "F020",
    "not a type",
    "{what} is not a scalar type",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    t = vy.shared(float, 4)\n"
        "\n"
        "k.program()"
    ),
)
TYPES_DIFFER = Code(
    "F021",
    "operands of different types",
    "{op} has operands of the types {left} and {right}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = x[0] * vy.gid()\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "Nothing is converted silently, because that hides what is lost: u32 "
        "and f32 have no common type that holds both."
    ),
)
WANTED_TYPE = Code(
    "F022",
    "value of another type",
    "{what} takes {expected}, not {found}",
    "convert it: {cast}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = vy.gid()\n"
        "\n"
        "k.program()"
    ),
)
VARIABLE_TYPE = Code(
    "F023",
    "variable that changes its type",
    "the variable {name!r} holds {expected} and cannot hold {found}",
    "convert it: {cast}; or use another name",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    a = x[0]\n"
        "    a = vy.gid()\n"
        "\n"
        "k.program()"
    ),
)
LITERAL = Code(
    "F024",
    "literal that does not fit",
    "{value} cannot be a value of type {dtype}",
    "{why}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    n = vy.gid() + 1.5\n"
        "\n"
        "k.program()"
    ),
)
CONSTANT = Code(
    "F025",
    "constant that cannot be computed",
    "this constant cannot be computed: {problem}",
    "change the numbers, or compute outside of the kernel",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = 1.0 / 0.0\n"
        "\n"
        "k.program()"
    ),
)
OPERAND = Code(
    "F026",
    "operation that the type does not have",
    "{op} does not work on {found}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = x[0] << x[0]\n"
        "\n"
        "k.program()"
    ),
)
NOT_BOOL = Code(
    "F027",
    "number where a truth value is wanted",
    "{what} must be a bool, not {found}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    if vy.gid():\n"
        "        x[0] = 1.0\n"
        "\n"
        "k.program()"
    ),
)
INTEGER_DIVISION = Code(
    "F028",
    "division of whole numbers with /",
    "/ divides floats, and these are {dtype}",
    "write // to round down, or convert both: {converted}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    n = vy.gid() / 2\n"
        "\n"
        "k.program()"
    ),
)
UNASSIGNED = Code(
    "F029",
    "variable without a value",
    "the variable {name!r} may have no value here",
    "assign {name} before the if or the loop",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    if vy.gid() < 4:\n"
        "        a = 1.0\n"
        "    x[0] = a\n"
        "\n"
        "k.program()"
    ),
)
LOOP_VARIABLE_LEFT = Code(
    "F030",
    "loop variable after its loop",
    "the loop variable {name!r} has no value after its loop",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    for i in range(4):\n"
        "        x[i] = 1.0\n"
        "    x[i] = 2.0\n"
        "\n"
        "k.program()"
    ),
)
UNPACK = Code(
    "F031",
    "tuple of the wrong length",
    "{expected} names are assigned, and the value is {found}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    a, b = x[0]\n"
        "\n"
        "k.program()"
    ),
)
ASSIGN_ARRAY = Code(
    "F032",
    "assignment to the name of an array",
    "the name {name!r} is an array and cannot be assigned",
    "assign to its elements: {name}[i] = ..., or use another name",
    example=(
        "import vyre as vy\n\n@vy.kernel\ndef k(x: vy.InOut[vy.f32]):\n    x = 1.0\n\nk.program()"
    ),
)
NO_VALUE = Code(
    "F033",
    "call that gives nothing",
    "{what} gives no value to assign to {name!r}",
    "call it on a line of its own",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    a = vy.barrier()\n"
        "\n"
        "k.program()"
    ),
)
READ_ONLY = Code(
    "F034",
    "store to an array that is only read",
    "the array {name!r} is vy.In and cannot be written",
    "declare it as vy.InOut, or as vy.Out, which begins as zeros",
    example=(
        "import vyre as vy\n\n@vy.kernel\ndef k(x: vy.In[vy.f32]):\n    x[0] = 1.0\n\nk.program()"
    ),
)
RANK = Code(
    "F035",
    "wrong number of indices",
    "the array {name!r} is indexed along {found} of its {rank} axes",
    "write {example}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32, 2]):\n"
        "    x[0] = 1.0\n"
        "\n"
        "k.program()"
    ),
)
INDEX_TYPE = Code(
    "F036",
    "index that is no whole number",
    "the index of {name} must be a whole number, not {found}",
    "convert it: vy.i32({text})",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[x[0]] = 1.0\n"
        "\n"
        "k.program()"
    ),
)
NEGATIVE_INDEX = Code(
    "F037",
    "negative index",
    "{name}[{where}] does not count from the end",
    "write {extent} - {index} in place of -{index}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[-1] = 1.0\n"
        "\n"
        "k.program()"
    ),
)
CONSTANT_INDEX = Code(
    "F038",
    "index that must be a constant",
    "{what} is indexed by a constant from 0 to {count} - 1",
    "use a constant, or an array: vy.local, vy.shared, or a parameter",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    t = (x, x)\n"
        "    x[0] = t[vy.gid()][0]\n"
        "\n"
        "k.program()"
    ),
)
AXIS = Code(
    "F039",
    "unknown axis",
    "{name}.shape has {rank} entries and is indexed by {found}",
    "write {name}.shape[0], with a constant",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    n = x.shape[1]\n"
        "\n"
        "k.program()"
    ),
)
ATOMIC_TYPE = Code(
    "F040",
    "atomic on an unfit type",
    "{op} does not work on {found}",
    "use an array of {known}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.u8]):\n"
        "    x.atomic_add(0, 1)\n"
        "\n"
        "k.program()"
    ),
)
STEP = Code(
    "F041",
    "impossible step",
    "range cannot have the step {found!r}",
    "give a whole number other than 0",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    for i in range(0, 4, 0):\n"
        "        pass\n"
        "\n"
        "k.program()"
    ),
)
STEP_TYPE = Code(
    "F042",
    "step that does not fit the loop variable",
    "the loop variable has the type {dtype} and cannot move by {step}",
    "count upwards and index from the end, or convert the bounds to vy.i32",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32], n: vy.u32):\n"
        "    for i in range(n, 0, -1):\n"
        "        pass\n"
        "\n"
        "k.program()"
    ),
)
KERNEL_RETURNS = Code(
    "F043",
    "kernel that returns a value",
    "a kernel returns nothing",
    "store the value to an Out array",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    return x[0]\n"
        "\n"
        "k.program()"
    ),
)
ASSERT_MESSAGE = Code(
    "F044",
    "message that is not known",
    "the message of an assert must be a constant string",
    'write: assert condition, "message"',
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    assert x[0] > 0.0, x[0]\n"
        "\n"
        "k.program()"
    ),
)
MEMORY_PLACE = Code(
    "F045",
    "shared or local array in the wrong place",
    "{name} {problem}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    if vy.gid() < 4:\n"
        "        t = vy.shared(vy.f32, 4)\n"
        "    x[0] = t[0]\n"
        "\n"
        "k.program()"
    ),
)
MEMORY_SIZE = Code(
    "F046",
    "shared or local array of unknown size",
    "the extents of {name} must be positive constants, not {found}",
    "use a number, a constant from outside, or a vy.static parameter",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    t = vy.local(vy.f32, len(x))\n"
        "\n"
        "k.program()"
    ),
)
RECURSION = Code(
    "F047",
    "function that calls itself",
    "{name} is called while it is being inlined",
    "write a loop",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.func\n"
        "def f(v):\n"
        "    return f(v)\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = f(x[0])\n"
        "\n"
        "k.program()"
    ),
)
RETURN_IN_LOOP = Code(
    "F048",
    "return inside a loop",
    "the function {name} returns from inside a loop",
    "keep the result in a variable, break, and return it at the end",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.func\n"
        "def f(v):\n"
        "    for i in range(4):\n"
        "        return v\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = f(x[0])\n"
        "\n"
        "k.program()"
    ),
)
RETURNS_SOMETIMES = Code(
    "F049",
    "function that returns a value on some paths only",
    "the function {name} may end without returning a value",
    "end it with a return",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.func\n"
        "def f(v):\n"
        "    if v > 0.0:\n"
        "        return v\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = f(x[0])\n"
        "\n"
        "k.program()"
    ),
)
RETURNS_DIFFER = Code(
    "F050",
    "returns of different length",
    "the function {name} returns tuples of different length",
    "return the same number of values everywhere",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.func\n"
        "def f(v):\n"
        "    if v > 0.0:\n"
        "        return v\n"
        "    return v, v\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = f(x[0])\n"
        "\n"
        "k.program()"
    ),
)
UNBOUND_GENERIC = Code(
    "F051",
    "generic type that no parameter has",
    "no parameter of the kernel has the type {name}",
    "use it in a parameter: x: vy.In[{name}]",
    example=(
        "import vyre as vy\n"
        "\n"
        'T = vy.generic("T")\n'
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = vy.f32(T(1))\n"
        "\n"
        "k.program()"
    ),
)
ARGUMENTS = Code(
    "F052",
    "call of a kernel with wrong arguments",
    "{name} {problem}",
    "call it as {form}",
    example=("import vyre as vy\n\n@vy.kernel\ndef k(x: vy.InOut[vy.f32]):\n    x[0] = 1.0\n\nk()"),
)
ARGUMENT = Code(
    "F053",
    "argument that does not fit its parameter",
    "the argument for {name!r} {problem}",
    "pass {expected}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32, 2]):\n"
        "    x[0, 0] = 1.0\n"
        "\n"
        "import numpy as np\n"
        "k(np.zeros(4, np.float32))"
    ),
)
GENERIC = Code(
    "F054",
    "types that do not decide",
    "the generic type {name} {problem}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        'T = vy.generic("T")\n'
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[T], y: vy.In[T]):\n"
        "    x[0] = y[0]\n"
        "\n"
        "k.program(vy.f32, vy.u32)"
    ),
)
STAGE = Code(
    "F055",
    "unknown stage",
    "there is no stage {name!r} of this kernel on {device}",
    "choose one of: {known}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    x[0] = 1.0\n"
        "\n"
        "k.show('c')"
    ),
)
OTHER_KIND = Code(
    "F060",
    "name that changes its kind",
    "the name {name!r} is {before} and cannot become {after}",
    "use another name for the second value",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    best = (x[0], x[1])\n"
        "    if x[0] > 1.0:\n"
        "        best = (x[0], x[1], x[2])\n"
        "    x[0] = best[1]\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "The members of a tuple are variables of the kernel, so their number and what they hold "
        "are the same wherever the name is bound."
    ),
)
SECOND_NAME = Code(
    "F061",
    "second name that depends on the run",
    "the name {name!r} stands for {what}, which cannot depend on a condition or a loop",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "LOW, HIGH = (1.0, 2.0), (3.0, 4.0)\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.InOut[vy.f32]):\n"
        "    table = LOW\n"
        "    if x[0] > 1.0:\n"
        "        table = HIGH\n"
        "    x[0] = table[1]\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "Arrays, functions, texts and tables are no values of the running kernel: which of them "
        "a name means is decided when the kernel is translated."
    ),
)
MAY_BE_NEGATIVE = Code(
    "F062",
    "index that may be negative",
    "{text} may be negative, and {dtype} has no negative numbers",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(y: vy.Out[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    y[i] = i - 1\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "Ids and lengths take the type of what they meet. A difference of them has a sign, which "
        "an unsigned type would lose: 0 - 1 would become 4294967295."
    ),
)
NEVER_NEGATIVE = Code(
    "F063",
    "question about the sign of an unsigned number",
    "{text} has the type {dtype}, which is never negative: {answer}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.In[vy.u32], y: vy.Out[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    if x[i] - x[i + 1] >= 0:\n"
        "        y[i] = 1\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "A difference of unsigned numbers wraps around where it would be negative, so a test of "
        "its sign always has the same answer."
    ),
)
NARROW_SUM = Code(
    "F064",
    "sum in a type of few bits",
    "{name} would be {dtype}, as {text} is, and hold {low} to {high} only",
    "write {name}: {wide} = {first} where it begins, and {statement} here",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel(workgroup=1)\n"
        "def k(text: vy.In[vy.u8], y: vy.Out[vy.u32]):\n"
        "    total = 0\n"
        "    for j in range(len(text)):\n"
        "        total += text[j]\n"
        "    y[0] = vy.u32(total)\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "A variable that a literal began takes the type of what it meets. A sum over many bytes "
        "does not fit into a byte."
    ),
)
WIDE_SHIFT = Code(
    "F065",
    "shift by more than the width",
    "{symbol} {amount} shifts all bits out of this {dtype}, which has {bits}",
    "{fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(text: vy.In[vy.u8], y: vy.Out[vy.u32]):\n"
        "    i = vy.gid()\n"
        "    if i < len(y):\n"
        "        y[i] = vy.u32(text[i] << 8)\n"
        "\n"
        "k.program()"
    ),
    explanation=(
        "Machines take the amount of a shift modulo the width, so a byte that is shifted by 8 "
        "would stay as it is."
    ),
)
NEGATIVE_SHIFT = Code(
    "F066",
    "shift by a negative number",
    "{symbol} {amount} has no meaning, in Python neither",
    "shift the other way: {fix}",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.In[vy.i32], y: vy.Out[vy.i32]):\n"
        "    y[0] = x[0] << -3\n"
        "\n"
        "k.program()"
    ),
)
WORD_TYPE = Code(
    "F067",
    "word of an array that holds no bytes",
    "{array}.{op} reads bytes, and {array} holds {found}",
    "make it an array of u8; pass {array}.view(np.uint8)",
    example=(
        "import vyre as vy\n"
        "\n"
        "@vy.kernel\n"
        "def k(x: vy.In[vy.f32], y: vy.Out[vy.u32]):\n"
        "    y[0] = x.u32(4)\n"
        "\n"
        "k.program()"
    ),
)

CODES = (
    NO_SOURCE,
    NOT_A_FUNCTION,
    PARAMETER,
    BAD_ELEMENT,
    BAD_RANK,
    BAD_STATIC,
    WORKGROUP,
    OUTSIDE,
    STATEMENT,
    EXPRESSION,
    UNKNOWN_NAME,
    CAPTURED,
    PLAIN_FUNCTION,
    FOREIGN,
    NOT_CALLABLE,
    CALL,
    NO_ATTRIBUTE,
    NOT_INDEXABLE,
    NOT_A_NUMBER,
    NOT_A_TYPE,
    TYPES_DIFFER,
    WANTED_TYPE,
    VARIABLE_TYPE,
    LITERAL,
    CONSTANT,
    OPERAND,
    NOT_BOOL,
    INTEGER_DIVISION,
    UNASSIGNED,
    LOOP_VARIABLE_LEFT,
    UNPACK,
    ASSIGN_ARRAY,
    NO_VALUE,
    READ_ONLY,
    RANK,
    INDEX_TYPE,
    NEGATIVE_INDEX,
    CONSTANT_INDEX,
    AXIS,
    ATOMIC_TYPE,
    STEP,
    STEP_TYPE,
    KERNEL_RETURNS,
    ASSERT_MESSAGE,
    MEMORY_PLACE,
    MEMORY_SIZE,
    RECURSION,
    RETURN_IN_LOOP,
    RETURNS_SOMETIMES,
    RETURNS_DIFFER,
    UNBOUND_GENERIC,
    ARGUMENTS,
    ARGUMENT,
    GENERIC,
    STAGE,
    OTHER_KIND,
    SECOND_NAME,
    MAY_BE_NEGATIVE,
    NEVER_NEGATIVE,
    NARROW_SUM,
    WIDE_SHIFT,
    NEGATIVE_SHIFT,
    WORD_TYPE,
)
