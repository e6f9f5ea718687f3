"""Calls of `vy.group`: which operator, values of which types, and what comes of them."""

from __future__ import annotations

import ast
import math
from typing import Any, cast

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import group
from vyre.front.context import Context
from vyre.front.device_functions import DeviceFunction
from vyre.front.functions import inline_values
from vyre.front.group_trees import Join, Values, joined, scanned
from vyre.front.index_values import as_bits, natural
from vyre.front.intrinsic_calls import Handler, extreme, values_of
from vyre.front.operators import apply
from vyre.front.type_unification import as_bool, as_scalar, as_type
from vyre.front.values import Constant, Scalar, Several, Thing, Value
from vyre.front.workgroup import barrier, invocations
from vyre.ir.infer import reduce_type

_WORDS = {op.row.spelling: op for op in ir.ReduceOp}
_OPERATORS = 'takes "add", "mul", "min", "max", "and", "or", "xor" or a vy.func as its operator'


def _reduce(ctx: Context, node: ast.Call) -> Value:
    operator, value = values_of(ctx, node, 'vy.group.reduce("add", x)', 2)
    values = _members(ctx, node.args[1], value)
    join = _join(ctx, node, operator, values, like=value)
    any_order = isinstance(operator, Constant) and not values[0].dtype.is_float
    return _together(joined(ctx, values, join, in_any_order=any_order), value)


def _scan(ctx: Context, node: ast.Call) -> Value:
    form = 'vy.group.scan("add", x, exclusive=True)'
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    if len(node.args) != 2 or options.keys() - {"exclusive", "identity"}:
        raise _refused(ctx, node, "takes an operator and a value", form)
    operator, value = ctx.in_order(node.args)
    values = _members(ctx, node.args[1], value)
    join = _join(ctx, node, operator, values, like=value)
    is_exclusive = ctx.expr(options["exclusive"]) if "exclusive" in options else Constant(False)
    if not isinstance(is_exclusive, Constant) or not isinstance(is_exclusive.value, bool):
        raise _refused(ctx, node, "got an exclusive= that is not known now", form)
    identity: Values = ()
    if is_exclusive.value:
        given = options.get("identity")
        identity = _identity(ctx, node, operator, values, given)
        if invocations(ctx) == 1:
            return _together(identity, value)
    elif "identity" in options:
        raise _refused(ctx, node, "got an identity= that only exclusive=True uses", form)
    if invocations(ctx) == 1:
        return value
    result = scanned(ctx, values, join)
    found = result.before(identity) if is_exclusive.value else result.own()
    barrier(ctx)
    return _together(found, value)


def _refused(ctx: Context, node: ast.Call, problem: str, form: str) -> Exception:
    return ctx.error(node, codes.CALL, name=ast.unparse(node.func), problem=problem, form=form)


def _members(ctx: Context, node: ast.AST, value: Value) -> Values:
    """The numbers that an invocation gives."""
    if not isinstance(value, Several):
        return [as_bits(ctx, node, as_scalar(ctx, node, ctx.fixed(value)))]
    if not value.items:
        raise ctx.error(node, codes.NOT_A_NUMBER, what="an empty tuple", fix="give numbers")
    return [as_bits(ctx, node, as_scalar(ctx, node, ctx.fixed(item))) for item in value.items]


def _together(found: Values, like: Value) -> Value:
    return Several(tuple(found)) if isinstance(like, Several) else found[0]


def _join(ctx: Context, node: ast.Call, operator: Value, values: Values, *, like: Value) -> Join:
    """How two values become one."""
    match operator:
        case Constant(str(word)) if word in _WORDS:
            return _join_by_word(ctx, node, _WORDS[word], values)
        case Thing(target) if isinstance(target, DeviceFunction):
            known = cast("DeviceFunction[..., Any]", target)
            return _join_by_function(ctx, node, known, values, like=like)
        case _:
            raise _refused(ctx, node, _OPERATORS, f'{ast.unparse(node.func)}("add", x)')


def _join_by_word(ctx: Context, node: ast.Call, op: ir.ReduceOp, values: Values) -> Join:
    if len(values) > 1:
        form = f"{ast.unparse(node.func)}(f, (a, b)), with a vy.func of two tuples"
        raise _refused(ctx, node, "joins tuples by functions only", form)
    answer = reduce_type(op, values[0].dtype)
    if not isinstance(answer, ir.DataType):
        found = values[0].dtype
        name = f"{ast.unparse(node.func)}({op.row.spelling!r})"
        raise ctx.error(node, codes.OPERAND, op=name, found=found, fix=answer.fix)
    opcode = ir.BinOp[op.name]
    bounded = opcode in (ir.BinOp.MIN, ir.BinOp.MAX)

    def join(left: Values, right: Values) -> Values:
        a, b = left[0], right[0]
        return [extreme(ctx, node, opcode, a, b) if bounded else apply(ctx, node, opcode, a, b)]

    return join


def _join_by_function(
    ctx: Context,
    node: ast.Call,
    function: DeviceFunction[..., Any],
    values: Values,
    *,
    like: Value,
) -> Join:
    is_tuple = isinstance(like, Several)
    steps = 0

    def join(left: Values, right: Values) -> Values:
        nonlocal steps
        steps += 1
        if len(function.inlinable.parameter_names) != len((left, right)):
            problem = f"joins two values, and {function.__name__} does not take two"
            raise _refused(ctx, node, problem, f"def {function.__name__}(a, b)")
        sides = [_together(side, like) for side in (left, right)]
        found = inline_values(ctx, node, function, sides, steps)
        parts = found.items if isinstance(found, Several) else (found,)
        if isinstance(found, Several) != is_tuple or len(parts) != len(values):
            problem = f"got {function.__name__}, which does not give what it takes"
            form = f"{ast.unparse(node.func)}({function.__name__}, x), with a result like x"
            raise _refused(ctx, node, problem, form)
        what = f"the result of {function.__name__}"
        return [
            as_type(ctx, node, part, value.dtype, what)
            for part, value in zip(parts, values, strict=True)
        ]

    return join


def _identity(
    ctx: Context, node: ast.Call, operator: Value, values: Values, given: ast.expr | None
) -> Values:
    """What joining with changes nothing, for the first invocation."""
    if isinstance(operator, Constant):
        if given is not None:
            form = f'{ast.unparse(node.func)}("{operator.value}", x, exclusive=True)'
            raise _refused(ctx, node, "knows the identity of its own operators", form)
        op, dtype = _WORDS[str(operator.value)], values[0].dtype
        return [Scalar(ir.Expr.lit(identity_of(op, dtype), dtype), dtype)]
    name = str(getattr(getattr(operator, "target", None), "__name__", "f"))
    if given is None:
        form = f"{ast.unparse(node.func)}({name}, x, exclusive=True, identity=0)"
        raise _refused(ctx, node, f"needs the identity of {name}", form)
    value = ctx.expr(given)
    parts = value.items if isinstance(value, Several) else (value,)
    if len(parts) != len(values):
        form = (
            f"{ast.unparse(node.func)}({name}, x, exclusive=True, identity=...), of the form of x"
        )
        raise _refused(ctx, node, "got an identity= that is not like the value", form)
    what = f"the identity of {name}"
    return [
        as_type(ctx, given, part, one.dtype, what) for part, one in zip(parts, values, strict=True)
    ]


def identity_of(op: ir.ReduceOp, dtype: ir.DataType) -> int | float | bool:
    """The number that an operator joins with any other one without changing it."""
    match op:
        case ir.ReduceOp.MUL:
            return 1
        case ir.ReduceOp.MIN:
            return math.inf if dtype.is_float else dtype.integer_range[1]
        case ir.ReduceOp.MAX:
            return -math.inf if dtype.is_float else dtype.integer_range[0]
        case ir.ReduceOp.AND:
            if dtype.is_bool:
                return True
            return -1 if dtype.is_signed else dtype.integer_range[1]
        case ir.ReduceOp.ADD | ir.ReduceOp.OR | ir.ReduceOp.XOR:
            return False if dtype.is_bool else 0


def _truth(op: ir.ReduceOp) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        form = f"{ast.unparse(node.func)}(condition)"
        (value,) = values_of(ctx, node, form, 1)
        flag = _flag(ctx, node, value, form)
        join = _join_by_word(ctx, node, op, [flag])
        found = joined(ctx, [flag], join, in_any_order=True)[0]
        known = ir.Binary(ir.BinOp.NE, found.expr, ir.Expr.u32(0))
        return ctx.spill(Scalar(known, ir.DataType.BOOL), "holds")

    return handle


def _flag(ctx: Context, node: ast.Call, value: Value, form: str) -> Scalar:
    test = as_bool(ctx, node.args[0], value, f"the operand of {form}")
    return Scalar(ir.Cast(test.expr, ir.DataType.U32), ir.DataType.U32)


def _compact(ctx: Context, node: ast.Call) -> Value:
    form = "vy.group.compact(keep)"
    (value,) = values_of(ctx, node, form, 1)
    flag = ctx.spill(_flag(ctx, node, value, form), "keep")
    if invocations(ctx) == 1:
        return Several((natural(ir.Expr.u32(0)), natural(flag.expr)))
    result = scanned(ctx, [flag], _join_by_word(ctx, node, ir.ReduceOp.ADD, [flag]))
    own, count = result.own()[0], result.total()[0]
    barrier(ctx)
    place = natural(ir.Binary(ir.BinOp.SUB, own.expr, flag.expr))
    return Several((ctx.spill(place, "place"), natural(count.expr)))


HANDLERS: dict[object, Handler] = {
    group.reduce: _reduce,
    group.scan: _scan,
    group.any: _truth(ir.ReduceOp.OR),
    group.all: _truth(ir.ReduceOp.AND),
    group.compact: _compact,
}
"""By function of `vy.group`."""
