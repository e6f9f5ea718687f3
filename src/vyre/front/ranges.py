"""The bounds of `range`: start, stop and step of one type, and how many iterations they make.

A loop over indices counts in `u32`. Where it begins below zero or counts down, it counts in `i32`;
an end that may be negative, as in `range(1, n - 1)`, is zero where it is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.assignment import key_of
from vyre.front.context import Context
from vyre.front.differences import both_sides, difference, is_bounded, signed_bits
from vyre.front.index_operators import at_least_zero
from vyre.front.index_values import as_signed, index, natural, stored
from vyre.front.type_unification import agree, index_of, literal
from vyre.front.values import Constant, Form, Key, Scalar, Value
from vyre.record import dataclass

ZERO_STEP = "range() arg 3 must not be zero"
"""What a step of 0 says; Python's own words."""

_UNSIGNED = {
    ir.DataType.I8: ir.DataType.U8,
    ir.DataType.I16: ir.DataType.U16,
    ir.DataType.I32: ir.DataType.U32,
    ir.DataType.I64: ir.DataType.U64,
}


@dataclass(frozen=True, slots=True)
class Range:
    """The bounds of a loop, of one type."""

    start: Scalar
    stop: Scalar
    step: Scalar | int
    form: Form | None = None
    """Of a loop over indices: whether one of them may be negative."""
    ends_before: tuple[ir.AnyExpr, ir.AnyExpr] | None = None
    """What an end is the difference of that would be less than zero in some loops."""
    last: Scalar | None = None
    """The number of the last round, in a loop that goes backwards."""

    @property
    def dtype(self) -> ir.DataType:
        """The type that the loop counts in."""
        return self.start.dtype

    @property
    def counter_type(self) -> ir.DataType:
        """The type of the number of rounds."""
        return _UNSIGNED.get(self.dtype, self.dtype)

    def shown(self, name: str) -> Scalar:
        """The loop variable, which is counted in a variable of the program."""
        if self.form is None:
            return Scalar(ir.Var(name), self.dtype, self.start.soft)
        is_own = self.dtype is ir.DataType.U32
        return index(ir.Var(name) if is_own else ir.Cast(ir.Var(name), ir.DataType.U32), self.form)


def range_of(ctx: Context, node: ast.For, call: ast.expr) -> Range:
    """The bounds that a call of `range` gives."""
    assert isinstance(call, ast.Call)
    if call.keywords or not 1 <= len(call.args) <= 3:
        problem = f"got {len(call.args) + len(call.keywords)} arguments"
        raise ctx.error(call, codes.CALL, name="range", problem=problem, form="range(a, b, step)")
    values = ctx.in_order(call.args)
    nodes: list[ast.expr] = list(call.args)
    if len(values) == 1:
        values, nodes = [Constant(0), *values], [call.args[0], *nodes]
    start, stop = _bounds(ctx, node, call, values[:2], nodes[:2])
    step: Scalar | int = 1
    if len(values) == 3:
        start, stop, step = _stepped(ctx, call, start, stop, values[2], nodes[2])
    if start.form is not None:
        return _over_indices(ctx, start, stop, step, has_step=len(values) == 3)
    if len(values) == 3:
        return _typed(ctx, start, stop, step)
    return Range(start, ctx.hold(stop, "stop"), 1)


def _bounds(
    ctx: Context, node: ast.For, call: ast.expr, values: Sequence[Value], nodes: Sequence[ast.expr]
) -> tuple[Scalar, Scalar]:
    first, last = values
    if isinstance(first, Constant) and isinstance(last, Constant):
        return _literal_bounds(ctx, node, (first, last), nodes)
    a, b = agree(ctx, call, "range", first, last, (nodes[0], nodes[1]))
    if not a.dtype.is_integer:
        raise ctx.error(
            call,
            codes.OPERAND,
            op="range",
            found=a.dtype,
            fix="count with whole numbers and compute the float from them",
        )
    return a, b


def _literal_bounds(
    ctx: Context, node: ast.For, values: tuple[Constant, Constant], nodes: Sequence[ast.expr]
) -> tuple[Scalar, Scalar]:
    """Bounds that are known now; the loop variable takes its type where it is used."""
    assert isinstance(node.target, ast.Name)
    key = key_of(ctx, node.target.id, node)
    learned, reason = ctx.learned.get(key), ctx.reasons.get(key)
    pairs = list(zip(nodes, values, strict=True))
    if isinstance(learned, Form):
        a, b = (index_of(ctx, where, value, reason) for where, value in pairs)
        if a.form is not None and b.form is not None:
            return a, b
        learned = ir.DataType.U32
    dtype = ir.DataType.I32 if learned is None else learned
    soft = frozenset({key}) if learned is None else frozenset[Key]()
    a, b = (literal(ctx, where, value, dtype, reason) for where, value in pairs)
    if not dtype.is_integer:
        fix = "count with whole numbers and compute the float from them"
        raise ctx.error(node.iter, codes.OPERAND, op="range", found=dtype, fix=fix)
    return Scalar(a.expr, dtype, soft), Scalar(b.expr, dtype, soft)


def _stepped(
    ctx: Context, call: ast.Call, start: Scalar, stop: Scalar, step: Value, node: ast.expr
) -> tuple[Scalar, Scalar, Scalar | int]:
    """The bounds and the step, of one type."""
    if isinstance(step, Constant):
        number = step.value
        if not isinstance(number, int) or isinstance(number, bool) or number == 0:
            raise ctx.error(node, codes.STEP, found=number)
        dtype = ir.DataType.I32 if start.form is not None and number < 0 else start.dtype
        low, high = dtype.integer_range
        if number != 1 and not low <= number <= high:
            raise ctx.error(node, codes.STEP_TYPE, step=number, dtype=start.dtype)
        return start, stop, number
    first, by = agree(ctx, call, "range", start, step, (call.args[0], node))
    if first.form is None and stop.form is not None:
        stop = stored(ctx, call.args[1], stop, first.dtype)
    return first, stop, by


def _typed(ctx: Context, start: Scalar, stop: Scalar, step: Scalar | int) -> Range:
    """A range of integers of a type, with a step."""
    start, stop = kept(ctx, start, "start"), ctx.hold(stop, "stop")
    if not isinstance(step, int):
        step = kept(ctx, step, "step")
        _refuse_zero(ctx, step)
    return Range(start, stop, step)


def _over_indices(
    ctx: Context, start: Scalar, stop: Scalar, step: Scalar | int, *, has_step: bool
) -> Range:
    """A range of indices."""
    goes_down = isinstance(step, int) and step < 0
    is_signed = not isinstance(step, int) and step.form is Form.SIGNED
    form = _form(start, stop, step)
    if start.form is Form.NATURAL and not goes_down and not is_signed:
        sides = None
        if stop.form is Form.SIGNED:
            sides = both_sides(ctx, stop.expr)
            stop = natural(at_least_zero(ctx, stop.expr))
        found = _typed(ctx, start, stop, step) if has_step else _plain(ctx, start, stop)
        return Range(found.start, found.stop, found.step, form, ends_before=sides)
    first, end = (Scalar(as_signed(ctx, one.expr), ir.DataType.I32) for one in (start, stop))
    by = step if isinstance(step, int) else Scalar(as_signed(ctx, step.expr), ir.DataType.I32)
    found = _typed(ctx, first, end, by) if has_step else _plain(ctx, first, end)
    return Range(found.start, found.stop, found.step, form)


def _plain(ctx: Context, start: Scalar, stop: Scalar) -> Range:
    return Range(start, ctx.hold(stop, "stop"), 1)


def _form(start: Scalar, stop: Scalar, step: Scalar | int) -> Form:
    """Whether a range of indices may hold a negative one, by what its bounds are."""
    if not isinstance(step, int):
        is_natural = start.form is Form.NATURAL and step.form is Form.NATURAL
    elif step > 0:
        is_natural = start.form is Form.NATURAL
    else:
        is_natural = stop.form is Form.NATURAL or (
            isinstance(stop.expr, ir.Lit) and signed_bits(stop.expr) == -1
        )
    return Form.NATURAL if is_natural else Form.SIGNED


def is_counted_to_an_extent(ctx: Context, bounds: Range) -> bool:
    """Whether no index of a range is greater than an id, a length or a number."""
    if bounds.dtype is ir.DataType.U32:
        return is_bounded(ctx.facts, bounds.stop.expr)
    first = difference(ctx.facts, ir.Cast(bounds.start.expr, ir.DataType.U32))
    return first is not None and first.plus is not None and is_bounded(ctx.facts, first.plus)


def _refuse_zero(ctx: Context, step: Scalar) -> None:
    """Stop where a step that is known at run time is 0, as Python does."""
    zero = ir.Expr.lit(0, step.dtype)
    if not _is_positive(ctx.facts.plain(step.expr)) and not ctx.facts.proves_less(zero, step.expr):
        trap = ir.Trap(ZERO_STEP).at(ctx.spans[-1])
        ctx.emit(ir.If(ir.Binary(ir.BinOp.EQ, step.expr, zero), (trap,), ()))


def _is_positive(expr: ir.AnyExpr) -> bool:
    """Whether a number of workgroups or invocations is never 0, as a grid has less than 2**32."""
    match expr:
        case ir.Lit():
            return expr.value > 0
        case ir.Builtin(kind):
            return kind in (ir.BuiltinKind.NUM_WORKGROUPS, ir.BuiltinKind.SUBGROUP_SIZE)
        case ir.Binary(ir.BinOp.MUL, left, right):
            return _is_positive(left) and _is_positive(right)
        case _:
            return False


def kept(ctx: Context, value: Scalar, name: str) -> Scalar:
    """What the loop variable is computed from in every round, whatever the body assigns."""
    return ctx.held(ctx.hold(value, name), name)


def rounds_of(bounds: Range) -> ir.AnyExpr:
    """How many rounds a stepped loop has; computed without overflow in the unsigned type."""
    counter = bounds.counter_type
    start, stop, step = bounds.start.expr, bounds.stop.expr, bounds.step
    if isinstance(step, int):
        if isinstance(start, ir.Lit) and isinstance(stop, ir.Lit):
            count = len(range(int(start.value), int(stop.value), step))
            return ir.Expr.lit(count, counter)
        size: ir.AnyExpr = ir.Expr.lit(abs(step), counter)
        low, high = (start, stop) if step > 0 else (stop, start)
        some = ir.Binary(ir.BinOp.LT, low, high)
    else:
        size = _unsigned(step.expr, bounds.dtype)
        forward = ir.Binary(ir.BinOp.GT, step.expr, ir.Expr.lit(0, bounds.dtype))
        if bounds.dtype.is_signed:
            size = ir.Select(forward, size, ir.Binary(ir.BinOp.SUB, ir.Expr.lit(0, counter), size))
            low, high = ir.Select(forward, start, stop), ir.Select(forward, stop, start)
            some = ir.Binary(ir.BinOp.LT, low, high)
        else:
            low, high = start, stop
            some = ir.Binary(ir.BinOp.AND, forward, ir.Binary(ir.BinOp.LT, start, stop))
    one = ir.Expr.lit(1, counter)
    distance = ir.Binary(ir.BinOp.SUB, _unsigned(high, bounds.dtype), _unsigned(low, bounds.dtype))
    rounds = ir.Binary(
        ir.BinOp.ADD, ir.Binary(ir.BinOp.DIV, ir.Binary(ir.BinOp.SUB, distance, one), size), one
    )
    return ir.Select(some, rounds, ir.Expr.lit(0, counter))


def _unsigned(expr: ir.AnyExpr, dtype: ir.DataType) -> ir.AnyExpr:
    return ir.Cast(expr, _UNSIGNED[dtype]) if dtype in _UNSIGNED else expr
