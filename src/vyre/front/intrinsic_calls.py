"""What the functions of vy mean inside of kernels, and the few of Python that have a meaning."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import advice, async_copies, intrinsics, math
from vyre.front.arrays import refuse_rows
from vyre.front.context import Context
from vyre.front.index_values import as_bits, as_signed, joined, natural
from vyre.front.operators import apply, apply_unary, binary
from vyre.front.parameters import GenericType, generic_of
from vyre.front.scalars import ScalarType, scalar_name
from vyre.front.type_unification import agree, as_bool, as_scalar, as_type, literals, same_literals
from vyre.front.unsigned_signs import refuse_absolute, refuse_maximum
from vyre.front.values import (
    NOTHING,
    Array,
    Constant,
    Form,
    Scalar,
    Several,
    Shape,
    Thing,
    Value,
    describe,
)
from vyre.ir.infer import bitcast_type, reduce_type

Handler = Callable[[Context, ast.Call], Value]


def resolved(ctx: Context, node: ast.AST, wanted: GenericType) -> ir.DataType:
    """The type that the arguments of the call gave a generic type."""
    found = ctx.frames[0].names.get(f"{wanted.name}: generic")
    if isinstance(found, Thing) and isinstance(found.target, ir.DataType):
        return found.target
    raise ctx.error(node, codes.UNBOUND_GENERIC, name=wanted.name)


def values_of(ctx: Context, node: ast.Call, form: str, count: int) -> list[Value]:
    """The arguments of a call that takes this number by position."""
    if node.keywords or len(node.args) != count:
        raise _wrong_call(ctx, node, form)
    return ctx.in_order(node.args)


def _wrong_call(ctx: Context, node: ast.Call, form: str) -> Exception:
    found = len(node.args) + len(node.keywords)
    problem = f"got {found} argument{'' if found == 1 else 's'}"
    if node.keywords:
        problem = "got arguments by name"
    return ctx.error(node, codes.CALL, name=ast.unparse(node.func), problem=problem, form=form)


def type_argument(ctx: Context, node: ast.expr) -> ir.DataType:
    """An argument that names a type."""
    value = ctx.expr(node)
    dtype = named_type(ctx, node, value)
    if dtype is None:
        fix = "write a type of vy, such as vy.f32"
        raise ctx.error(node, codes.NOT_A_TYPE, what=describe(value), fix=fix)
    return dtype


def named_type(ctx: Context, node: ast.expr, value: Value) -> ir.DataType | None:
    """The type that a value names, if it does."""
    target = value.target if isinstance(value, Thing) else None
    if isinstance(target, ScalarType):
        return target.dtype
    generic = generic_of(target)
    if generic is not None:
        return resolved(ctx, node, generic)
    return None


def _builtin(kind: ir.BuiltinKind) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        return natural(ir.Builtin(kind, _axis(ctx, node)))

    return handle


def _axis(ctx: Context, node: ast.Call) -> int:
    form = f"{ast.unparse(node.func)}(axis)"
    if node.keywords or len(node.args) > 1:
        raise _wrong_call(ctx, node, form)
    if not node.args:
        return 0
    value = ctx.expr(node.args[0])
    if isinstance(value, Constant) and value.value in (0, 1, 2):
        return int(value.value)
    raise ctx.error(
        node.args[0],
        codes.CALL,
        name=form,
        problem="the axis is not 0, 1 or 2",
        form=f"{ast.unparse(node.func)}(0)",
    )


def _group_size(ctx: Context, node: ast.Call) -> Value:
    return Constant(ctx.workgroup[_axis(ctx, node)])


def _lane_builtin(kind: ir.BuiltinKind) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        values_of(ctx, node, f"{ast.unparse(node.func)}()", 0)
        return natural(ir.Builtin(kind, 0))

    return handle


def _fence(ordering: ir.MemoryOrdering) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        values_of(ctx, node, f"{ast.unparse(node.func)}()", 0)
        ctx.emit(ir.Barrier(ordering))
        return NOTHING

    return handle


def _unary(opcode: ir.UnOp) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        (value,) = values_of(ctx, node, f"{ast.unparse(node.func)}(x)", 1)
        if isinstance(value, Constant) and ir.UnOp.FLOOR.row.operands == opcode.row.operands:
            value = _as_float(value)
        if isinstance(value, Constant):
            # As a literal does, what is computed of one takes the type of what it meets.
            (value,) = same_literals(ctx, node, (value,), node.args)
        return apply_unary(ctx, node, opcode, as_scalar(ctx, node.args[0], value))

    return handle


def _as_float(value: Value) -> Value:
    """A whole literal where only floats make sense."""
    if isinstance(value, Constant) and isinstance(value.value, int):
        return Constant(float(value.value))
    return value


def _binary(opcode: ir.BinOp) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        left, right = values_of(ctx, node, f"{ast.unparse(node.func)}(x, y)", 2)
        if ir.DataType.I32 not in opcode.row.operands:
            left, right = _as_float(left), _as_float(right)
        sides = (node.args[0], node.args[1])
        a, b = agree(ctx, node, ast.unparse(node.func), left, right, sides)
        return apply(ctx, node, opcode, a, b)

    return handle


_KEEPING_NAN = {ir.BinOp.MIN: ir.BinOp.MINIMUM, ir.BinOp.MAX: ir.BinOp.MAXIMUM}


def extreme(ctx: Context, node: ast.AST, opcode: ir.BinOp, a: Scalar, b: Scalar) -> Scalar:
    """The lesser or the greater; of floats, NaN if one is NaN, as numpy has it."""
    return apply(ctx, node, _KEEPING_NAN[opcode] if a.dtype.is_float else opcode, a, b)


def _extreme_of_two(opcode: ir.BinOp) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        left, right = values_of(ctx, node, f"{ast.unparse(node.func)}(x, y)", 2)
        sides = (node.args[0], node.args[1])
        a, b = agree(ctx, node, ast.unparse(node.func), left, right, sides)
        return extreme(ctx, node, opcode, a, b)

    return handle


def _folded(compute: Callable[..., Any], left: Constant, right: Constant) -> Constant:
    for one in (left, right):
        if one.value != one.value:  # NaN, which Python keeps only if it comes first
            return one
    return Constant(compute(left.value, right.value))


def _fold(opcode: ir.BinOp, compute: Callable[..., Any]) -> Handler:
    """`min` and `max` of two or more."""

    def handle(ctx: Context, node: ast.Call) -> Value:
        if node.keywords or not node.args:
            raise _wrong_call(ctx, node, f"{ast.unparse(node.func)}(x, y)")
        values = ctx.in_order(node.args)
        if len(values) == 1:
            loops = "a for loop over range"
            if isinstance(values[0], Array):
                loops = advice.loops_over(values[0])
            raise _wrong_call(ctx, node, f"{ast.unparse(node.func)}(x, y), or {loops}")
        result = values[0]
        side: ast.AST = node.args[0]
        for value, value_node in zip(values[1:], node.args[1:], strict=True):
            if isinstance(result, Constant) and isinstance(value, Constant):
                result = _folded(compute, result, value)
            else:
                sides = (side, value_node)
                if opcode is ir.BinOp.MAX:
                    refuse_maximum(ctx, node, (result, value), sides)
                a, b = agree(ctx, node, ast.unparse(node.func), result, value, sides)
                result = extreme(ctx, node, opcode, a, b)
            side = node
        return result

    return handle


def _absolute(ctx: Context, node: ast.Call) -> Value:
    (value,) = values_of(ctx, node, "abs(x)", 1)
    if isinstance(value, Constant) and not isinstance(value.value, str):
        return Constant(abs(value.value))
    refuse_absolute(ctx, node, value, node.args[0])
    return apply_unary(ctx, node, ir.UnOp.ABS, as_scalar(ctx, node.args[0], value))


def _divmod(ctx: Context, node: ast.Call) -> Value:
    pair = values_of(ctx, node, "divmod(x, y)", 2)
    left, right = (ctx.hold(one) if isinstance(one, Scalar) else one for one in pair)
    sides = (node.args[0], node.args[1])
    if any(isinstance(one, Scalar) and one.dtype.is_float for one in pair):
        instead = f"write {advice.of_floats('divmod', *sides)}"
        raise ctx.error(node, codes.EXPRESSION, what="divmod of floats", instead=instead)
    quotient = binary(ctx, node, ast.FloorDiv(), (left, right), sides)
    return Several((quotient, binary(ctx, node, ast.Mod(), (left, right), sides)))


def _length(ctx: Context, node: ast.Call) -> Value:
    if node.args and isinstance(node.args[0], ast.Subscript):
        refuse_rows(ctx, node, node.args[0])
    (value,) = values_of(ctx, node, "len(x)", 1)
    if isinstance(value, Several):
        return Constant(len(value.items))
    if isinstance(value, Shape):
        return Constant(value.array.rank)
    if not isinstance(value, Array):
        raise ctx.error(node, codes.NOT_INDEXABLE, what=describe(value))
    return natural(value.shape[0])


def _code_of(ctx: Context, node: ast.Call) -> Value:
    form = 'ord("a")'
    (value,) = values_of(ctx, node, form, 1)
    text = value.value if isinstance(value, Constant) else None
    if isinstance(value, Several) and len(value.items) == 1:
        return value.items[0]
    if isinstance(value, Scalar):
        form = f"{ast.unparse(node.args[0])} alone: elements of text are such numbers"
    if not isinstance(text, str) or len(text) != 1:
        problem = "takes one character that is known now"
        raise ctx.error(node, codes.CALL, name="ord", problem=problem, form=form)
    return Constant(ord(text))


def _select(ctx: Context, node: ast.Call) -> Value:
    condition, left, right = values_of(ctx, node, f"{ast.unparse(node.func)}(c, a, b)", 3)
    test = as_bool(ctx, node.args[0], condition, "the condition of a select")
    sides = (node.args[1], node.args[2])
    if isinstance(left, Constant) and isinstance(right, Constant):
        a, b = literals(ctx, node, (left, right), sides)
    else:
        a, b = agree(ctx, node, ast.unparse(node.func), left, right, sides)
    chosen = ir.Select(test.expr, a.expr, b.expr)
    return Scalar(chosen, a.dtype, a.soft & b.soft, joined(a, b))


def _clip(ctx: Context, node: ast.Call) -> Value:
    value, low, high = values_of(ctx, node, "vy.math.clip(x, low, high)", 3)
    args = node.args
    a, b = agree(ctx, node, "clip", value, low, (args[0], args[1]))
    raised = extreme(ctx, node, ir.BinOp.MAX, a, b)
    c, d = agree(ctx, node, "clip", raised, high, (node, args[2]))
    return extreme(ctx, node, ir.BinOp.MIN, c, d)


def _square(ctx: Context, node: ast.Call) -> Value:
    (value,) = values_of(ctx, node, "vy.math.square(x)", 1)
    if isinstance(value, Constant):
        (value,) = same_literals(ctx, node, (value,), node.args)
    held = ctx.hold(as_scalar(ctx, node.args[0], value))
    return apply(ctx, node, ir.BinOp.MUL, held, held)


def _fma(ctx: Context, node: ast.Call) -> Value:
    values = [_as_float(value) for value in values_of(ctx, node, "vy.math.fma(a, b, c)", 3)]
    args = node.args
    first, second = agree(ctx, node, "fma", values[0], values[1], (args[0], args[1]))
    third, first = agree(ctx, node, "fma", values[2], first, (args[2], args[0]))
    if first.dtype not in ir.BinOp.POW.row.operands:
        fix = "it works on f16, f32 and f64"
        raise ctx.error(node, codes.OPERAND, op="fma", found=first.dtype, fix=fix)
    soft = first.soft & third.soft
    return Scalar(ir.Fma(first.expr, second.expr, third.expr), first.dtype, soft)


def _bitcast(ctx: Context, node: ast.Call) -> Value:
    if node.keywords or len(node.args) != 2:
        raise _wrong_call(ctx, node, "vy.bitcast(x, vy.u32)")
    scalar = as_bits(ctx, node.args[0], as_scalar(ctx, node.args[0], ctx.expr(node.args[0])))
    dtype = type_argument(ctx, node.args[1])
    answer = bitcast_type(scalar.dtype, dtype)
    if not isinstance(answer, ir.DataType):
        fix = answer.fix
        if scalar.dtype.is_bool and dtype.is_integer:
            converted = f"{scalar_name(dtype)}({ast.unparse(node.args[0])})"
            fix = f"convert truth values, which have no bits of their own: {converted}"
        raise ctx.error(node, codes.OPERAND, op="bitcast", found=scalar.dtype, fix=fix)
    return Scalar(ir.Bitcast(scalar.expr, dtype), dtype)


def _ballot(ctx: Context, node: ast.Call) -> Value:
    (value,) = values_of(ctx, node, "vy.subgroup_ballot(condition)", 1)
    test = as_bool(ctx, node.args[0], value, "the operand of a ballot")
    return ctx.spill(Scalar(ir.Ballot(test.expr), ir.DataType.VEC4_U32), "ballot")


def _shuffle(ctx: Context, node: ast.Call) -> Value:
    value, lane = values_of(ctx, node, "vy.subgroup_shuffle(x, lane)", 2)
    scalar = as_bits(ctx, node.args[0], as_scalar(ctx, node.args[0], value))
    if isinstance(lane, Constant):
        lane = as_type(ctx, node.args[1], lane, ir.DataType.U32, "a lane")
    source = as_scalar(ctx, node.args[1], lane)
    if not source.dtype.is_integer:
        raise ctx.error(
            node.args[1],
            codes.INDEX_TYPE,
            name="the subgroup",
            found=source.dtype,
            text=ast.unparse(node.args[1]),
        )
    return ctx.spill(Scalar(ir.Shuffle(scalar.expr, source.expr), scalar.dtype), "shuffled")


def _reduce(op: ir.ReduceOp) -> Handler:
    def handle(ctx: Context, node: ast.Call) -> Value:
        (value,) = values_of(ctx, node, f"{ast.unparse(node.func)}(x)", 1)
        scalar = as_bits(ctx, node.args[0], as_scalar(ctx, node.args[0], value))
        answer = reduce_type(op, scalar.dtype)
        if not isinstance(answer, ir.DataType):
            name = ast.unparse(node.func)
            raise ctx.error(node, codes.OPERAND, op=name, found=scalar.dtype, fix=answer.fix)
        return ctx.spill(Scalar(ir.SubgroupReduce(op, scalar.expr), answer), "joined")

    return handle


def _print(ctx: Context, node: ast.Call) -> Value:
    form = 'vy.print("label", x, y)'
    if node.keywords or not node.args:
        raise _wrong_call(ctx, node, form)
    label, *values = ctx.in_order(node.args)
    if not isinstance(label, Constant) or not isinstance(label.value, str):
        problem = "the label is not a string"
        raise ctx.error(node.args[0], codes.CALL, name="vy.print", problem=problem, form=form)
    for each, value in zip(node.args[1:], values, strict=True):
        if isinstance(value, Constant) and isinstance(value.value, str):
            problem = "has one label, which comes first"
            raise ctx.error(each, codes.CALL, name="vy.print", problem=problem, form=form)
    scalars = [as_scalar(ctx, n, v) for n, v in zip(node.args[1:], values, strict=True)]
    shown = [as_signed(ctx, s.expr) if s.form is Form.SIGNED else s.expr for s in scalars]
    ctx.emit(ir.Print(label.value, tuple(shown)))
    return NOTHING


def _misplaced(ctx: Context, node: ast.Call) -> Value:
    raise misplaced(ctx, node, node)


def misplaced(ctx: Context, node: ast.AST, call: ast.Call) -> Exception:
    """The error for an array that is made where it gets no name."""
    problem = "must be assigned to one name"
    fix = f"write it on a line of its own, and use the name: t = {ast.unparse(call)}"
    name = ast.unparse(call.func)
    return ctx.error(node, codes.MEMORY_PLACE, name=name, problem=problem, fix=fix)


def _table() -> dict[object, Handler]:
    found: dict[object, Handler] = {
        intrinsics.gid: _builtin(ir.BuiltinKind.GLOBAL_ID),
        intrinsics.lid: _builtin(ir.BuiltinKind.LOCAL_ID),
        intrinsics.wid: _builtin(ir.BuiltinKind.WORKGROUP_ID),
        intrinsics.num_groups: _builtin(ir.BuiltinKind.NUM_WORKGROUPS),
        intrinsics.group_size: _group_size,
        intrinsics.subgroup_size: _lane_builtin(ir.BuiltinKind.SUBGROUP_SIZE),
        intrinsics.subgroup_lane: _lane_builtin(ir.BuiltinKind.SUBGROUP_LANE),
        intrinsics.barrier: _fence(ir.MemoryOrdering.SEQ_CST),
        intrinsics.grid_sync: _fence(ir.MemoryOrdering.GRID_SYNC),
        intrinsics.async_load: lambda ctx, node: async_copies.start(ctx, node, ir.AsyncLoad),
        intrinsics.async_store: lambda ctx, node: async_copies.start(ctx, node, ir.AsyncStore),
        intrinsics.async_wait: async_copies.wait,
        intrinsics.shared: _misplaced,
        intrinsics.local: _misplaced,
        intrinsics.bitcast: _bitcast,
        intrinsics.select: _select,
        intrinsics.subgroup_ballot: _ballot,
        intrinsics.subgroup_shuffle: _shuffle,
        intrinsics.print: _print,
        math.where: _select,
        math.clip: _clip,
        math.minimum: _extreme_of_two(ir.BinOp.MIN),
        math.maximum: _extreme_of_two(ir.BinOp.MAX),
        math.square: _square,
        math.fma: _fma,
        math.absolute: _absolute,
        builtins.abs: _absolute,
        builtins.divmod: _divmod,
        builtins.len: _length,
        builtins.ord: _code_of,
        builtins.min: _fold(ir.BinOp.MIN, min),
        builtins.max: _fold(ir.BinOp.MAX, max),
    }
    for function, unary in _UNARY.items():
        found[function] = _unary(unary)
    for function, opcode in _BINARY.items():
        found[function] = _binary(opcode)
    for op in ir.ReduceOp:
        found[getattr(intrinsics, f"subgroup_{op.row.spelling}")] = _reduce(op)
    return found


_UNARY: dict[Callable[..., Any], ir.UnOp] = {
    intrinsics.popcount: ir.UnOp.POPCOUNT,
    intrinsics.clz: ir.UnOp.CLZ,
    intrinsics.ctz: ir.UnOp.CTZ,
    intrinsics.reverse_bits: ir.UnOp.REVERSE_BITS,
    intrinsics.byte_swap: ir.UnOp.BYTE_SWAP,
    math.sqrt: ir.UnOp.SQRT,
    math.rsqrt: ir.UnOp.RSQRT,
    math.exp: ir.UnOp.EXP,
    math.exp2: ir.UnOp.EXP2,
    math.expm1: ir.UnOp.EXPM1,
    math.log: ir.UnOp.LOG,
    math.log2: ir.UnOp.LOG2,
    math.log10: ir.UnOp.LOG10,
    math.log1p: ir.UnOp.LOG1P,
    math.sin: ir.UnOp.SIN,
    math.cos: ir.UnOp.COS,
    math.tan: ir.UnOp.TAN,
    math.arcsin: ir.UnOp.ASIN,
    math.arccos: ir.UnOp.ACOS,
    math.arctan: ir.UnOp.ATAN,
    math.sinh: ir.UnOp.SINH,
    math.cosh: ir.UnOp.COSH,
    math.tanh: ir.UnOp.TANH,
    math.floor: ir.UnOp.FLOOR,
    math.ceil: ir.UnOp.CEIL,
    math.trunc: ir.UnOp.TRUNC,
    math.rint: ir.UnOp.ROUND_EVEN,
    math.round_away: ir.UnOp.ROUND,
    math.isnan: ir.UnOp.IS_NAN,
    math.isinf: ir.UnOp.IS_INF,
    math.isfinite: ir.UnOp.IS_FINITE,
}

_BINARY: dict[Callable[..., Any], ir.BinOp] = {
    intrinsics.rotl: ir.BinOp.ROTL,
    intrinsics.rotr: ir.BinOp.ROTR,
    intrinsics.mul_hi: ir.BinOp.MUL_HI,
    intrinsics.add_sat: ir.BinOp.ADD_SAT,
    intrinsics.sub_sat: ir.BinOp.SUB_SAT,
    math.arctan2: ir.BinOp.ATAN2,
    math.power: ir.BinOp.POW,
    math.copysign: ir.BinOp.COPYSIGN,
    math.fmin: ir.BinOp.MIN,
    math.fmax: ir.BinOp.MAX,
}

HANDLERS = _table()
