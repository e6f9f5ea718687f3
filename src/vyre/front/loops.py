"""Loops: `for` over `range` with any step, and `while`; the other loops are written out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import replace

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.assignment import declare, fitted
from vyre.front.context import Context, LoopState
from vyre.front.loop_variables import leave_loop_variables, loop_variable_left
from vyre.front.ranges import Range, is_counted_to_an_extent, kept, range_of, rounds_of
from vyre.front.type_unification import as_bool
from vyre.front.unrolled import items_of, lower_rounds
from vyre.front.values import Form, Scalar, Thing
from vyre.front.variable_scopes import assigned_names

LowerBody = Callable[[Context, Sequence[ast.stmt]], bool]


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
    bounds = range_of(ctx, node, backwards or node.iter)
    rounds = None
    if backwards is not None:
        first = kept(ctx, bounds.start, "start")
        bounds = Range(first, bounds.stop, bounds.step, bounds.form, bounds.ends_before)
        rounds = ctx.hold(Scalar(rounds_of(bounds), bounds.counter_type), "rounds")
        one = ir.Expr.lit(1, rounds.dtype)
        last = ctx.hold(Scalar(ir.Binary(ir.BinOp.SUB, rounds.expr, one), rounds.dtype), "last")
        bounds = replace(bounds, last=last)
    frame = ctx.frame
    before = set(frame.assigned)
    frame.loops.append(LoopState())
    counter = ctx.fresh(name)
    with ctx.block() as body:
        leave_loop_variables(ctx, node.body)
        shown = bounds.shown(_begin_round(ctx, node, counter, bounds))
        frame.names[name] = shown
        if name in assigned_names(node.body):
            own = declare(ctx, name, node)
            frame.assigned.add(name)
            ctx.emit(ir.Let(own.name, fitted(ctx, node, name, own, shown).expr))
        lower_body(ctx, node.body)
    frame.loops.pop()
    frame.assigned = before
    loop_variable_left(ctx, name)
    start, stop = bounds.start.expr, bounds.stop.expr
    if rounds is not None:
        start, stop = ir.Expr.lit(0, rounds.dtype), rounds.expr
    elif bounds.step != 1:
        start, stop = ir.Expr.lit(0, bounds.counter_type), rounds_of(bounds)
    ctx.emit(ir.Loop(counter, start, stop, tuple(body)))
    return False


def _begin_round(ctx: Context, node: ast.For, counter: str, bounds: Range) -> str:
    """The variable of the program that holds the loop variable of Python in a round."""
    shown = counter
    if bounds.step != 1 or bounds.last is not None:
        assert isinstance(node.target, ast.Name)
        shown = ctx.fresh(node.target.id)
        step = bounds.step
        by = ir.Expr.lit(step, bounds.dtype) if isinstance(step, int) else step.expr
        round_number: ir.AnyExpr = ir.Var(counter)
        if bounds.last is not None:
            round_number = ir.Binary(ir.BinOp.SUB, bounds.last.expr, round_number)
        if bounds.dtype.is_signed:
            round_number = ir.Cast(round_number, bounds.dtype)
        moved = ir.Binary(
            ir.BinOp.ADD, bounds.start.expr, ir.Binary(ir.BinOp.MUL, round_number, by)
        )
        ctx.emit(ir.Let(shown, moved))
    _know(ctx, shown, bounds)
    return shown


def _know(ctx: Context, shown: str, bounds: Range) -> None:
    """What holds for the loop variable in every round."""
    facts, start, stop = ctx.facts, bounds.start.expr, bounds.stop.expr
    facts.constants.add(shown)
    if bounds.form is Form.NATURAL:
        facts.natural.add(shown)
        if is_counted_to_an_extent(ctx, bounds):
            facts.counters.add(shown)
    counts_up = isinstance(bounds.step, int) and bounds.step > 0
    if not bounds.dtype.is_signed:
        # It cannot count down.
        facts.know_less(ir.Var(shown), stop)
        if bounds.ends_before is not None:
            end, less = bounds.ends_before
            facts.know_less(ir.Binary(ir.BinOp.ADD, ir.Var(shown), less), end)
    elif counts_up and isinstance(start, ir.Lit) and isinstance(stop, ir.Lit):
        first, last = start.value, stop.value
        if first >= 0 and last > 0 and bounds.dtype is ir.DataType.I32:
            facts.know_less(ir.Cast(ir.Var(shown), ir.DataType.U32), ir.Expr.u32(int(last)))


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


def lower_while(ctx: Context, node: ast.While, lower_body: LowerBody) -> bool:
    """`while condition`; answers whether the loop is never left."""
    frame = ctx.frame
    before = set(frame.assigned)
    frame.loops.append(LoopState())
    with ctx.block() as body:
        leave_loop_variables(ctx, node.body)
        condition = ctx.expr(node.test)
        test = as_bool(ctx, node.test, condition, "the condition of a while")
        # What the condition computes in statements is computed again before every round.
        computes = bool(body)
        if computes:
            ctx.emit(ir.If(ir.Unary(ir.UnOp.NOT, test.expr), (ir.Break(),), ()))
        ctx.facts.assume(test.expr)
        lower_body(ctx, node.body)
    breaks = frame.loops.pop().breaks
    forever = isinstance(test.expr, ir.Lit) and test.expr.value is True
    ctx.emit(ir.While(ir.Expr.bool_(True) if computes else test.expr, tuple(body)))
    frame.assigned = before
    if forever and breaks:
        frame.assigned = set[str].intersection(*breaks)
    return forever and not breaks
