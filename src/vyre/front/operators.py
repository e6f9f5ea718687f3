"""Python's operators in the opcodes of the language, with Python's meaning kept.

`//` rounds down and `%` has the sign of the divisor, also where the opcodes truncate. Operators on
constants are computed now, by Python itself.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from vyre import ir
from vyre.diagnostics import Diagnostic
from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front import index_operators as indices
from vyre.front.arrays import extents
from vyre.front.context import Context
from vyre.front.floor_division import floor_quotient, floor_remainder
from vyre.front.index_values import INTEGERS, as_bits, differ
from vyre.front.type_unification import agree, as_bool, as_scalar, settled
from vyre.front.unsigned_signs import refuse_comparison
from vyre.front.values import Constant, Scalar, Several, Value, describe
from vyre.front.wide_shifts import refuse_negative_shift, refuse_wide_shift
from vyre.ir.infer import binary_type, unary_type
from vyre.signals import is_from_handler

MAX_MULTIPLICATIONS = 16
"""Integer powers up to this one are written out as products."""

_python: Any = operator

SYMBOLS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any], ir.BinOp | None]] = {
    ast.Add: ("+", operator.add, ir.BinOp.ADD),
    ast.Sub: ("-", operator.sub, ir.BinOp.SUB),
    ast.Mult: ("*", operator.mul, ir.BinOp.MUL),
    ast.Div: ("/", _python.truediv, ir.BinOp.DIV),
    ast.FloorDiv: ("//", _python.floordiv, None),
    ast.Mod: ("%", operator.mod, None),
    ast.Pow: ("**", _python.pow, None),
    ast.LShift: ("<<", _python.lshift, ir.BinOp.SHL),
    ast.RShift: (">>", _python.rshift, ir.BinOp.SHR),
    ast.BitAnd: ("&", _python.and_, ir.BinOp.AND),
    ast.BitOr: ("|", _python.or_, ir.BinOp.OR),
    ast.BitXor: ("^", _python.xor, ir.BinOp.XOR),
    ast.MatMult: ("@", _python.matmul, None),
}

COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any], ir.BinOp | None]] = {
    ast.Eq: ("==", operator.eq, ir.BinOp.EQ),
    ast.NotEq: ("!=", operator.ne, ir.BinOp.NE),
    ast.Lt: ("<", operator.lt, ir.BinOp.LT),
    ast.LtE: ("<=", operator.le, ir.BinOp.LE),
    ast.Gt: (">", operator.gt, ir.BinOp.GT),
    ast.GtE: (">=", operator.ge, ir.BinOp.GE),
    ast.Is: ("is", operator.is_, None),
    ast.IsNot: ("is not", operator.is_not, None),
    ast.In: ("in", operator.contains, None),
    ast.NotIn: ("not in", operator.contains, None),
}


def binary(
    ctx: Context,
    node: ast.AST,
    op: ast.operator,
    operands: tuple[Value, Value],
    sides: tuple[ast.AST, ast.AST],
) -> Value:
    """The value of `left op right`."""
    symbol, compute, opcode = SYMBOLS[type(op)]
    left, right = operands
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _folded(ctx, node, symbol, compute, (left.value, right.value))
    if isinstance(op, ast.Pow) and isinstance(left, Scalar) and isinstance(right, Constant):
        found = _small_power(ctx, left, right.value)
        if found is not None:
            return found
    is_shift = isinstance(op, (ast.LShift, ast.RShift))
    if is_shift:
        refuse_negative_shift(ctx, node, symbol, right, sides)
    a, b = agree(ctx, node, symbol, left, right, sides)
    if is_shift:
        refuse_wide_shift(ctx, node, symbol, a, right, sides[0])
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        if a.dtype.is_float:
            raise _not_of_floats(ctx, node, symbol, sides)
        return _divided(ctx, node, a, b, rest=isinstance(op, ast.Mod))
    if isinstance(op, ast.Pow):
        return apply(ctx, node, ir.BinOp.POW, a, b)
    if opcode is None:
        raise ctx.error(
            node,
            codes.EXPRESSION,
            what=f"the operator {symbol}",
            instead="write a loop over range that adds up the products",
        )
    if opcode is ir.BinOp.DIV and a.dtype.is_integer:
        name = "vy.f64" if a.dtype.bits == 64 else "vy.f32"
        converted = " / ".join(f"{name}({ast.unparse(side)})" for side in sides)
        raise ctx.error(node, codes.INTEGER_DIVISION, dtype=a.shown, converted=converted)
    return apply(ctx, node, opcode, a, b)


def apply(ctx: Context, node: ast.AST, opcode: ir.BinOp, a: Scalar, b: Scalar) -> Scalar:
    """An opcode of two operands, if it takes their type."""
    if a.form is not None and b.form is not None:
        found = indices.of_two(ctx, opcode, a, b)
        if found is not None:
            return found
        a, b = (as_bits(ctx, _operand(node, k), one) for k, one in enumerate((a, b)))
    answer = binary_type(opcode, a.dtype, b.dtype)
    if not isinstance(answer, ir.DataType):
        fix = _fix_operand(a.dtype, answer)
        raise ctx.error(node, codes.OPERAND, op=opcode.row.spelling, found=a.dtype, fix=fix)
    soft = a.soft & b.soft if answer is a.dtype else frozenset[Any]()
    return Scalar(ir.Binary(opcode, a.expr, b.expr), answer, soft)


def apply_unary(ctx: Context, node: ast.AST, opcode: ir.UnOp, operand: Scalar) -> Scalar:
    """An opcode of one operand, if it takes its type."""
    if operand.form is not None:
        found = indices.of_one(ctx, opcode, operand)
        if found is not None:
            return found
        operand = as_bits(ctx, _operand(node, 0), operand)
    answer = unary_type(opcode, operand.dtype)
    if not isinstance(answer, ir.DataType):
        fix = _fix_operand(operand.dtype, answer)
        raise ctx.error(node, codes.OPERAND, op=opcode.row.spelling, found=operand.dtype, fix=fix)
    soft = operand.soft if answer is operand.dtype else frozenset[Any]()
    return Scalar(ir.Unary(opcode, operand.expr), answer, soft)


def _operand(node: ast.AST, position: int) -> ast.AST:
    """What stands for an operand in the call of a function."""
    if isinstance(node, ast.Call) and position < len(node.args):
        return node.args[position]
    return node


def _fix_operand(found: ir.DataType, answer: Diagnostic) -> str:
    """What to do about an operand of a type that an opcode does not take."""
    if found.is_bool:
        return "convert truth values to count with them: vy.i32(a > b)"
    if found.is_vector:
        return "take one of its words, such as v[0]"
    return answer.fix


def unary(ctx: Context, node: ast.UnaryOp, value: Value) -> Value:
    """The value of `-x`, `+x`, `~x` or `not x`."""
    if isinstance(value, Constant) and not isinstance(value.value, str):
        found = value.value
        match node.op:
            case ast.USub():
                return Constant(-found)
            case ast.UAdd():
                return Constant(+found)
            case ast.Not():
                as_bool(ctx, node.operand, value, "the operand of not")
                return Constant(not found)
            case _ if isinstance(found, int) and not isinstance(found, bool):
                return Constant(~found)
            case _:
                pass
    if isinstance(node.op, ast.Not):
        truth = as_bool(ctx, node.operand, value, "the operand of not")
        return Scalar(ir.Unary(ir.UnOp.NOT, truth.expr), ir.DataType.BOOL)
    operand = as_scalar(ctx, node.operand, value)
    if isinstance(node.op, ast.UAdd):
        return operand
    opcode = ir.UnOp.NEG if isinstance(node.op, ast.USub) else ir.UnOp.NOT
    return apply_unary(ctx, node, opcode, operand)


def compare(
    ctx: Context,
    node: ast.AST,
    op: ast.cmpop,
    operands: tuple[Value, Value],
    sides: tuple[ast.AST, ast.AST],
) -> Value:
    """The truth of one comparison."""
    symbol, compute, opcode = COMPARISONS[type(op)]
    operands = extents(operands[0]), extents(operands[1])
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(operands[1], Several):
        found = _among(ctx, node, operands[0], operands[1], sides)
        if isinstance(op, ast.In):
            return found
        if isinstance(found, Constant):
            return Constant(not found.value)
        return apply_unary(ctx, node, ir.UnOp.NOT, as_bool(ctx, node, found, symbol))
    if opcode is None:
        instead = {"is": "==", "is not": "!="}.get(symbol, "a loop that compares with ==")
        raise ctx.error(
            node,
            codes.EXPRESSION,
            what=f"the operator {symbol!r}",
            instead=f"write {instead}",
        )
    left, right = operands
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _folded(ctx, node, symbol, compute, (left.value, right.value))
    if isinstance(left, Several) and isinstance(right, Several):
        return _compare_tuples(ctx, node, op, (left, right), sides)
    refuse_comparison(ctx, node, op, operands, sides)
    a, b = settled(ctx, node, symbol, left, right, sides)
    if (a.form is None) is not (b.form is None):
        if not {a.dtype, b.dtype} <= INTEGERS:
            raise differ(ctx, node, symbol, a, b, sides)
        return indices.compared_with_number(ctx, opcode, a, b)
    return apply(ctx, node, opcode, a, b)


def _compare_tuples(
    ctx: Context,
    node: ast.AST,
    op: ast.cmpop,
    operands: tuple[Several, Several],
    sides: tuple[ast.AST, ast.AST],
) -> Value:
    """Tuples are compared at the first place where they differ, else by their lengths."""
    symbol, compute, _ = COMPARISONS[type(op)]
    if operands[0].of_bytes is not operands[1].of_bytes:
        if isinstance(op, (ast.Eq, ast.NotEq)):
            return Constant(isinstance(op, ast.NotEq))
        what = f"bytes {symbol} a tuple"
        raise ctx.error(node, codes.EXPRESSION, what=what, instead="compare bytes with bytes")
    left, right = (_held_items(ctx, operand) for operand in operands)
    result: Value = Constant(compute(len(left), len(right)))
    if len(left) != len(right) and isinstance(op, (ast.Eq, ast.NotEq)):
        return result
    for pair in reversed(list(zip(left, right, strict=False))):
        equal = compare(ctx, node, ast.Eq(), pair, sides)
        here = compare(ctx, node, op, pair, sides)
        if isinstance(equal, Constant):
            result = result if equal.value else here
            continue
        first, rest = (as_bool(ctx, node, one, "a comparison").expr for one in (here, result))
        if isinstance(op, (ast.Eq, ast.NotEq)):
            joined = ir.Binary(ir.BinOp.AND if isinstance(op, ast.Eq) else ir.BinOp.OR, first, rest)
        else:
            joined = ir.Select(as_bool(ctx, node, equal, "a comparison").expr, rest, first)
        result = Scalar(joined, ir.DataType.BOOL)
    return result


def _held_items(ctx: Context, value: Several) -> list[Value]:
    return [ctx.hold(item) if isinstance(item, Scalar) else item for item in value.items]


def _among(
    ctx: Context, node: ast.AST, left: Value, right: Several, sides: tuple[ast.AST, ast.AST]
) -> Value:
    """`x in (a, b)`: whether x equals one of them."""
    result: Value = Constant(False)
    held = ctx.hold(left) if isinstance(left, Scalar) else left
    for item in right.items:
        equal = compare(ctx, node, ast.Eq(), (held, item), sides)
        if isinstance(equal, Constant):
            if equal.value:
                return equal
        elif isinstance(result, Scalar):
            result = apply(ctx, node, ir.BinOp.OR, result, as_bool(ctx, node, equal, "in"))
        else:
            result = equal
    return result


def _folded(
    ctx: Context,
    node: ast.AST,
    symbol: str,
    compute: Callable[[Any, Any], Any],
    values: tuple[object, object],
) -> Constant:
    if isinstance(values[1], int) and symbol in ("<<", "**") and abs(values[1]) > 4096:
        raise ctx.error(node, codes.CONSTANT, problem=f"{symbol} {values[1]} is too large")
    try:
        found = compute(*values)
    except (ArithmeticError, TypeError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        raise ctx.error(node, codes.CONSTANT, problem=problem) from problem
    if not isinstance(found, (bool, int, float)):
        raise ctx.error(node, codes.CONSTANT, problem=f"gives {type(found).__name__}")
    return Constant(found)


def _small_power(ctx: Context, base: Scalar, exponent: object) -> Scalar | None:
    """A power as products, where the exponent is a small whole number."""
    if isinstance(exponent, float) and exponent.is_integer() and base.dtype.is_float:
        exponent = int(exponent)
    if not isinstance(exponent, int) or isinstance(exponent, bool) or base.dtype.is_bool:
        return None
    if not 0 <= exponent <= MAX_MULTIPLICATIONS:
        return None
    if exponent == 0:
        return Scalar(ir.Expr.lit(1, base.dtype), base.dtype, base.soft, base.form)
    result: ir.AnyExpr | None = None
    square = ctx.hold(base)
    while exponent:
        if exponent & 1:
            result = square.expr if result is None else ir.Binary(ir.BinOp.MUL, result, square.expr)
        exponent >>= 1
        if exponent:
            product = ir.Binary(ir.BinOp.MUL, square.expr, square.expr)
            square = ctx.hold(Scalar(product, base.dtype, base.soft, base.form))
    assert result is not None
    return Scalar(result, base.dtype, base.soft, base.form)


def _not_of_floats(
    ctx: Context, node: ast.AST, symbol: str, sides: tuple[ast.AST, ast.AST]
) -> Exception:
    """The error for `//` and `%` of floats, where Python rounds once and divisions round again."""
    what = f"{symbol} of floats"
    instead = f"write {advice.of_floats(symbol, *sides)}"
    return ctx.error(node, codes.EXPRESSION, what=what, instead=instead)


def _divided(ctx: Context, node: ast.AST, a: Scalar, b: Scalar, *, rest: bool) -> Scalar:
    """`//` or `%` of integers, rounded down."""
    if a.form is not None:
        return indices.remainder(ctx, a, b) if rest else indices.divided(ctx, a, b)
    made = apply(ctx, node, ir.BinOp.REM if rest else ir.BinOp.DIV, a, b)
    if not a.dtype.is_signed:
        return made
    found = floor_remainder(ctx, a, b) if rest else floor_quotient(ctx, a, b)
    return Scalar(found, a.dtype, a.soft & b.soft)


def not_callable(ctx: Context, node: ast.AST, value: Value) -> Exception:
    """The error for calling something that is no function."""
    return ctx.error(node, codes.NOT_CALLABLE, what=describe(value))
