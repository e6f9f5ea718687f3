"""V1##: types that do not fit. Found by type inference, reported by the checker."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

_HEAD = """\
program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

"""

OPERANDS_DIFFER = Code(
    "V101",
    "operands of different types",
    "the operands of {op} are {left} and {right}",
    "convert one of them; vyre never converts by itself",
    example=_HEAD + "let x = 1u32 + 1i32\n",
)
OPERAND_TYPE = Code(
    "V102",
    "operand of an unfit type",
    "{op} does not work on {found}",
    "{hint}",
    example=_HEAD + "let x = 1.0f32 << 2.0f32\n",
)
NOT_BOOL = Code(
    "V103",
    "not a truth value",
    "{what} must be bool, not {found}",
    "compare {example}",
    example=_HEAD + "if 1u32 {\n    return\n}\n",
)
INDEX_TYPE = Code(
    "V104",
    "index of an unfit type",
    "{what} must be an integer, not {found}",
    "convert it, for example i32(x)",
    example=_HEAD + "let x = a[1.0f32]\n",
)
ARMS_DIFFER = Code(
    "V105",
    "select between different types",
    "the two values of a select are {left} and {right}",
    "convert one of them",
    example=_HEAD + "let x = select(true, 1u32, 1i32)\n",
)
CAST_TYPE = Code(
    "V106",
    "impossible conversion",
    "{found} cannot be converted to {target}",
    "convert between bool, integers and floats only",
    example=_HEAD + "let v = vec2<u32>(1u32, 2u32)\nlet x = u32(v)\n",
)
BITCAST_WIDTH = Code(
    "V107",
    "bitcast between different widths",
    "{found} has {from_bits} bits and {target} has {to_bits}",
    "choose a type of the same width, or convert by value",
    example=_HEAD + "let x = bitcast<u64>(1u32)\n",
)
VALUE_TYPE = Code(
    "V108",
    "value of the wrong type",
    "{what} takes {expected}, not {found}",
    "convert the value",
    example=_HEAD + "out[0] = 1.0f32\n",
)
LANE_OF_SCALAR = Code(
    "V109",
    "lane of something without lanes",
    "{found} has no lane {index}",
    "take a lane of a vector, counted from 0 to one less than its lanes",
    example=_HEAD + "let x = lane(1u32, 0)\n",
)
VECTOR_LANES = Code(
    "V110",
    "vector from the wrong lanes",
    "{target} takes {expected}, not {found}",
    "give as many lanes as the vector has, all of its element type",
    example=_HEAD + "let v = vec2<u32>(1u32, 2i32)\n",
)
ATOMIC_TYPE = Code(
    "V111",
    "atomic on an unfit type",
    "{op} does not work on elements of type {found}",
    "use a buffer of u32, i32, u64 or i64 (f32 for add, min and max)",
    example=(
        "program workgroup(64, 1, 1)\n\nbuffer h: read_write u8[] @0\n\n"
        "eval atomic_add(h[0], 1u8)\n"
    ),
)
ATOMIC_EXPECTED = Code(
    "V112",
    "compare-exchange operands",
    "{op} {problem}",
    "give `expected` to compare-exchange, and to nothing else",
    example=(
        "from vyre.ir import AtomicOp, BufferDecl, DataType, Expr, Node, Program\n"
        "out = BufferDecl.read_write('out', 0, DataType.U32)\n"
        "add = Expr.atomic(AtomicOp.ADD, 'out', 0, Expr.u32(1), expected=Expr.u32(1))\n"
        "Program.wrapped([out], (64, 1, 1), [Node.eval(add)]).validate()"
    ),
)
LOOP_BOUNDS = Code(
    "V113",
    "loop bounds of different or unfit types",
    "a loop counts from {left} to {right}",
    "give both bounds the same integer type",
    example=_HEAD + "for i in 0u32..4i32 {\n    return\n}\n",
)
NO_VALUE = Code(
    "V114",
    "type that cannot be loaded",
    "elements of type {found} cannot be held in a variable",
    "declare it only, or store the data in a buffer of a scalar or vector type",
    example=("program workgroup(64, 1, 1)\n\nbuffer t: read_only tensor[] @0\n\nlet x = t[0]\n"),
)
UNKNOWN_VARIABLE = Code(
    "V001",
    "unknown variable",
    "there is no variable {name!r} here",
    "bind it with let (in Python Node.let) in this scope or one around it{suggestion}",
    example=_HEAD + "out[0] = y\n",
)
UNKNOWN_BUFFER = Code(
    "V002",
    "unknown buffer",
    "there is no buffer {name!r}",
    "declare it, or use one of: {known}",
    example=_HEAD + "let x = nowhere[0]\n",
)

CODES = (
    UNKNOWN_VARIABLE,
    UNKNOWN_BUFFER,
    OPERANDS_DIFFER,
    OPERAND_TYPE,
    NOT_BOOL,
    INDEX_TYPE,
    ARMS_DIFFER,
    CAST_TYPE,
    BITCAST_WIDTH,
    VALUE_TYPE,
    LANE_OF_SCALAR,
    VECTOR_LANES,
    ATOMIC_TYPE,
    ATOMIC_EXPECTED,
    LOOP_BOUNDS,
    NO_VALUE,
)
