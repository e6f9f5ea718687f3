"""Loops: `for` over `range` with any step, and `while`; the other loops are written out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence

from vyre.diagnostics.codes import front as codes
from vyre.front.agree import agree, as_bool, literal
from vyre.front.assignment import declare, key_of
from vyre.front.context import Context, LoopState, LoopVariableLeft
from vyre.front.homes import assigned_names
from vyre.front.unrolled import items_of, lower_rounds
from vyre.front.values import Constant, Scalar, Thing, Value
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Binary,
    BinOp,
    Break,
    Cast,
    DataType,
    Expr,
    If,
    Let,
    Lit,
    Loop,
    Select,
    Unary,
    UnOp,
    Var,
    While,
)
from vyre.record import dataclass

LowerBody = Callable[[Context, Sequence[ast.stmt]], bool]

_UNSIGNED = {
    DataType.I8: DataType.U8,
    DataType.I16: DataType.U16,
    DataType.I32: DataType.U32,
    DataType.I64: DataType.U64,
}


@dataclass(frozen=True, slots=True)
class Range:
    """The bounds of a loop, of one type."""

    start: Scalar
    stop: Scalar
    step: Scalar | int
    last: Scalar | None = None
    """The number of the last round, in a loop that goes backwards."""

    @property
    def dtype(self) -> DataType:
        """The type of the loop variable."""
        return self.start.dtype


def lower_for(ctx: Context, node: ast.For, lower_body: LowerBody) -> bool:
    """`for i in range(...)`, or over a tuple; answers whether nothing goes on after it."""
    backwards = _reversed_range(ctx, node.iter)
    items = items_of(ctx, node.iter) if backwards is None else None
    if items is not None:
        return lower_rounds(ctx, node, items)
    if not isinstance(node.target, ast.Name):
        instead = "write one name: for i in range(n)"
        raise ctx.error(
            node.target, codes.STATEMENT, what="several loop variables", instead=instead
        )
    name = node.target.id
    bounds = _range(ctx, node, backwards or node.iter)
    rounds = None
    if backwards is not None:
        rounds = ctx.hold(Scalar(_rounds(bounds), _counter_type(bounds)), "rounds")
        one = Expr.lit(1, rounds.dtype)
        last = ctx.hold(Scalar(Binary(BinOp.SUB, rounds.expr, one), rounds.dtype), "last")
        bounds = Range(bounds.start, bounds.stop, bounds.step, last)
    frame = ctx.frame
    before = set(frame.assigned)
    frame.loops.append(LoopState())
    counter = ctx.fresh(name)
    with ctx.block() as body:
        shown = _begin_round(ctx, node, counter, bounds, body)
        ctx.facts.constants.add(shown)
        frame.names[name] = Scalar(Var(shown), bounds.dtype, bounds.start.soft)
        if name in assigned_names(node.body):
            own = declare(ctx, name, node)
            own.dtype, own.soft = bounds.dtype, bounds.start.soft
            frame.assigned.add(name)
            ctx.emit(Let(own.name, Var(shown)))
        lower_body(ctx, node.body)
    frame.loops.pop()
    frame.assigned = before
    frame.names[name] = LoopVariableLeft()
    start, stop = bounds.start.expr, bounds.stop.expr
    if rounds is not None:
        start, stop = Expr.lit(0, rounds.dtype), rounds.expr
    elif bounds.step != 1:
        start, stop = Expr.lit(0, _counter_type(bounds)), _rounds(bounds)
    ctx.emit(Loop(counter, start, stop, tuple(body)))
    return False


def _begin_round(
    ctx: Context, node: ast.For, counter: str, bounds: Range, body: list[AnyStmt]
) -> str:
    """The variable of the program that holds the loop variable of Python in a round."""
    start, stop = bounds.start, bounds.stop
    if bounds.step == 1 and bounds.last is None:
        shown = counter
    else:
        assert isinstance(node.target, ast.Name)
        shown = ctx.fresh(node.target.id)
        step = bounds.step
        by = Expr.lit(step, bounds.dtype) if isinstance(step, int) else step.expr
        round_number: AnyExpr = Var(counter)
        if bounds.last is not None:
            round_number = Binary(BinOp.SUB, bounds.last.expr, round_number)
        if bounds.dtype.is_signed:
            round_number = Cast(round_number, bounds.dtype)
        moved = Binary(BinOp.ADD, start.expr, Binary(BinOp.MUL, round_number, by))
        ctx.emit(Let(shown, moved))
    ctx.facts.constants.add(shown)
    counts_up = not isinstance(bounds.step, int) or bounds.step > 0
    if counts_up and not bounds.dtype.is_signed:
        ctx.facts.know_less(Var(shown), stop.expr)
    elif counts_up and isinstance(start.expr, Lit) and isinstance(stop.expr, Lit):
        first, last = start.expr.value, stop.expr.value
        if first >= 0 and last > 0 and bounds.dtype is DataType.I32:
            ctx.facts.know_less(Cast(Var(shown), DataType.U32), Expr.u32(int(last)))
    return shown


def _reversed_range(ctx: Context, node: ast.expr) -> ast.Call | None:
    """The `range(...)` in `reversed(range(...))`."""
    match node:
        case ast.Call(outer, [ast.Call(inner) as call], []):
            is_it = _names(ctx, outer, builtins.reversed) and _names(ctx, inner, builtins.range)
            return call if is_it else None
        case _:
            return None


def _names(ctx: Context, node: ast.expr, wanted: object) -> bool:
    found = ctx.expr(node)
    return isinstance(found, Thing) and found.target is wanted


def _range(ctx: Context, node: ast.For, call: ast.expr) -> Range:
    assert isinstance(call, ast.Call)
    if call.keywords or not 1 <= len(call.args) <= 3:
        problem = f"got {len(call.args) + len(call.keywords)} arguments"
        raise ctx.error(call, codes.CALL, name="range", problem=problem, form="range(a, b, step)")
    values = ctx.in_order(call.args)
    nodes: list[ast.expr] = list(call.args)
    if len(values) == 1:
        values, nodes = [Constant(0), *values], [call.args[0], *nodes]
    start, stop = _bounds(ctx, node, call, values[:2], nodes[:2])
    if len(values) == 2:
        return Range(start, ctx.hold(stop, "stop"), 1)
    return _stepped(ctx, call, start, stop, values[2], nodes[2])


def _bounds(
    ctx: Context, node: ast.For, call: ast.expr, values: Sequence[Value], nodes: Sequence[ast.expr]
) -> tuple[Scalar, Scalar]:
    first, last = values
    if isinstance(first, Constant) and isinstance(last, Constant):
        assert isinstance(node.target, ast.Name)
        key = key_of(ctx, node.target.id, node)
        learned = ctx.learned.get(key)
        dtype = DataType.I32 if learned is None else learned
        soft = frozenset({key}) if learned is None else frozenset[tuple[object, ...]]()
        pairs = ((nodes[0], first), (nodes[1], last))
        a, b = (literal(ctx, n, v, dtype, ctx.reasons.get(key)) for n, v in pairs)
        a, b = Scalar(a.expr, dtype, soft), Scalar(b.expr, dtype, soft)
    else:
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


def _stepped(
    ctx: Context, call: ast.Call, start: Scalar, stop: Scalar, step: Value, node: ast.expr
) -> Range:
    start, stop = ctx.hold(start, "start"), ctx.hold(stop, "stop")
    if isinstance(step, Constant):
        number = step.value
        if not isinstance(number, int) or isinstance(number, bool) or number == 0:
            raise ctx.error(node, codes.STEP, found=number)
        if number != 1:
            low, high = start.dtype.integer_range
            if not low <= number <= high:
                raise ctx.error(node, codes.STEP_TYPE, step=number, dtype=start.dtype)
        return Range(start, stop, number)
    first, by = agree(ctx, call, "range", start, step, (call.args[0], node))
    return Range(first, stop, ctx.hold(by, "step"))


def _counter_type(bounds: Range) -> DataType:
    return _UNSIGNED.get(bounds.dtype, bounds.dtype)


def _rounds(bounds: Range) -> AnyExpr:
    """How many rounds a stepped loop has; computed without overflow in the unsigned type."""
    counter = _counter_type(bounds)
    start, stop, step = bounds.start.expr, bounds.stop.expr, bounds.step
    if isinstance(step, int):
        if isinstance(start, Lit) and isinstance(stop, Lit):
            count = len(range(int(start.value), int(stop.value), step))
            return Expr.lit(count, counter)
        size: AnyExpr = Expr.lit(abs(step), counter)
        some = Binary(BinOp.LT, start, stop) if step > 0 else Binary(BinOp.LT, stop, start)
    else:
        size = _unsigned(step.expr, bounds.dtype)
        forward = Binary(BinOp.GT, step.expr, Expr.lit(0, bounds.dtype))
        some = Binary(BinOp.AND, forward, Binary(BinOp.LT, start, stop))
    low, high = (start, stop) if not isinstance(step, int) or step > 0 else (stop, start)
    one = Expr.lit(1, counter)
    distance = Binary(BinOp.SUB, _unsigned(high, bounds.dtype), _unsigned(low, bounds.dtype))
    rounds = Binary(BinOp.ADD, Binary(BinOp.DIV, Binary(BinOp.SUB, distance, one), size), one)
    return Select(some, rounds, Expr.lit(0, counter))


def _unsigned(expr: AnyExpr, dtype: DataType) -> AnyExpr:
    return Cast(expr, _UNSIGNED[dtype]) if dtype in _UNSIGNED else expr


def lower_while(ctx: Context, node: ast.While, lower_body: LowerBody) -> bool:
    """`while condition`; answers whether the loop is never left."""
    frame = ctx.frame
    before = set(frame.assigned)
    frame.loops.append(LoopState())
    with ctx.block() as body:
        condition = ctx.expr(node.test)
        test = as_bool(ctx, node.test, condition, "the condition of a while")
        # What the condition computes in statements is computed again before every round.
        computes = bool(body)
        if computes:
            ctx.emit(If(Unary(UnOp.NOT, test.expr), (Break(),), ()))
        ctx.facts.assume(test.expr)
        lower_body(ctx, node.body)
    breaks = frame.loops.pop().breaks
    forever = isinstance(test.expr, Lit) and test.expr.value is True
    ctx.emit(While(Expr.bool_(True) if computes else test.expr, tuple(body)))
    frame.assigned = before
    if forever and breaks:
        frame.assigned = set[str].intersection(*breaks)
    return forever and not breaks
