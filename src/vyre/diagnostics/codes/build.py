"""I###: a value handed to a constructor of the IR is wrong."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

LITERAL_RANGE = Code(
    "I001",
    "literal out of range",
    "{value} does not fit in {dtype}",
    "use a value from {low} to {high}, or a wider type",
    example="from vyre.ir import Expr\nExpr.u32(-1)",
)
LITERAL_TYPE = Code(
    "I002",
    "literal of an impossible type",
    "a literal of type {dtype} cannot be made from {value}",
    "give a Python {expected}, or choose another type",
    example="from vyre.ir import DataType, Expr\nExpr.lit('x', DataType.U32)",
)
NOT_AN_EXPRESSION = Code(
    "I003",
    "not an expression",
    "{what} must be an expression, not {found}",
    "wrap the value in a typed literal, such as Expr.u32(1) or Expr.f32(1.0)",
    example="from vyre.ir import Expr\nExpr.var('i') + 1",
)
NOT_A_STATEMENT = Code(
    "I004",
    "not a statement",
    "{what} must be a statement, not {found}",
    "build it with Node, for example Node.store(...); an expression alone is Node.eval(...)",
    example="from vyre.ir import Node, Expr\nNode.block([Expr.u32(1)])",
)
BAD_NAME = Code(
    "I005",
    "not a name",
    "{name!r} cannot name {what}",
    "use letters, digits, dots and underscores, not starting with a digit, at most 255 long",
    example="from vyre.ir import Expr\nExpr.var('1x')",
)
NO_TRUTH_VALUE = Code(
    "I006",
    "an expression has no truth value",
    "a vyre expression is not true or false while the program is being built",
    "use Node.if_ or Expr.select; combine conditions with & | ~; compare trees with `is` or ==",
    example="from vyre.ir import Expr\nif Expr.var('i') < Expr.u32(4):\n    pass",
)
BAD_WORKGROUP_SIZE = Code(
    "I007",
    "not a workgroup size",
    "a workgroup size is three integers, not {found!r}",
    "write (64, 1, 1)",
    example="from vyre.ir import Program\nProgram.wrapped([], (64,), [])",
)
BAD_FIELD = Code(
    "I008",
    "wrong value for a field",
    "{field} of {what} cannot be {found!r}",
    "{expected}",
    example="from vyre.ir import BufferDecl, DataType\nBufferDecl.read('a', -1, DataType.U32)",
)
TOO_DEEP = Code(
    "I009",
    "nested too deeply",
    "this tree is {depth} levels deep; nothing deeper than {limit} can be built",
    "bind parts of it to names with Node.let",
    example=(
        "from vyre.ir import Expr\ne = Expr.u32(1)\nfor _ in range(5000):\n    e = e + Expr.u32(1)"
    ),
)

CODES = (
    LITERAL_RANGE,
    LITERAL_TYPE,
    NOT_AN_EXPRESSION,
    NOT_A_STATEMENT,
    BAD_NAME,
    NO_TRUTH_VALUE,
    BAD_WORKGROUP_SIZE,
    BAD_FIELD,
    TOO_DEEP,
)
