"""All-active prologue of a masked loop: unmasked iterations while all lanes are active.

Lanes that begin at adjacent values and advance together leave a loop at nearly the same time, so
that nearly all iterations are fully active. Testing whether the next one is takes one comparison
with the last lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import register_type, widened
from vyre.backends.llvm.emit.values import Slot, Value, uniform
from vyre.backends.llvm.schedule.code_size import is_large
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import walk_expr, walk_own_exprs
from vyre.rewrite.conditions import Conjunct, conjuncts_of

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.statements import Statements

_RISING = frozenset({ir.BinOp.LT, ir.BinOp.LE})


def has_all_active_prologue(statements: Statements, loop: ir.Loop | ir.While) -> bool:
    """True if fully active iterations are worth code of their own.

    All lanes must enter the loop, and leave it by its bounds or its condition only.
    """
    if not statements.lanes.width or statements.lanes.mask is not None:
        return False
    if not statements.kernel.allows(Technique.ALL_ACTIVE_PROLOGUE):
        return False
    if is_large(statements.kernel.program):
        return False
    return (
        not statements.flow.may_leave(loop) and _size(loop.body) <= heuristics.MAX_ALL_ACTIVE_NODES
    )


def _size(body: ir.Body) -> int:
    nodes = 0
    for statement in body:
        nodes += 1 + sum(1 for _ in walk_own_exprs(statement))
        inner = sum(_size(getattr(statement, name)) for name in statement.body_fields)
        nodes += 2 * inner if isinstance(statement, (ir.Loop, ir.While)) else inner
    return nodes


def leading_parts(statements: Statements, loop: ir.While) -> list[Conjunct] | None:
    """The conjuncts of a condition, if the last lane decides one; else None.

    The condition is evaluated once more where it fails for some lanes, so it must have no side
    effects.
    """
    if any(isinstance(node, ir.Atomic) for node in walk_expr(loop.cond)):
        return None
    parts = conjuncts_of(loop.cond, negated=False, is_integer=_never)
    return parts if any(_leads(statements, part) for part in parts) else None


def _never(_: ir.AnyExpr) -> bool:
    return False


def _leads(statements: Statements, part: Conjunct) -> bool:
    if part.op is None:
        return False
    for conjunct in (part, part.mirrored()):
        if conjunct.op in _RISING and isinstance(conjunct.left, ir.Var):
            slot = statements.lanes.names[conjunct.left.name]
            if isinstance(slot, Slot) and slot.stride > 0:
                return not statements.shapes.is_varying(conjunct.right)
    return False


def emit_all_hold(lanes: LaneContext, parts: list[Conjunct]) -> str:
    """Emit whether all conditions hold in all lanes, an i1; it errs towards false."""
    held = [_emit_holds(lanes, part) for part in parts]
    joined = held[0]
    for condition in held[1:]:
        joined = lanes.w.emit(f"and i1 {joined}, {condition}")
    return joined


def _emit_holds(lanes: LaneContext, part: Conjunct) -> str:
    w = lanes.w
    if part.op is not None:
        for conjunct in (part, part.mirrored()):
            left, right = lanes.value(conjunct.left), lanes.value(conjunct.right)
            if conjunct.op in _RISING and left.stride > 0 and right.is_uniform:
                assert conjunct.op is not None
                return lanes.arithmetic.compare(
                    conjunct.op, left.dtype, 0, _last_lane(lanes, left), right.text
                )
    value = lanes.value(part.condition())
    if value.is_uniform:
        return value.text
    flags = w.emit(f"bitcast {widened('i1', lanes.width)} {value.text} to i{lanes.width}")
    return w.emit(f"icmp eq i{lanes.width} {flags}, -1")


def _last_lane(lanes: LaneContext, value: Value) -> str:
    """Emit the last lane of a rising value; the greatest number if lanes wrap."""
    op = "sadd.sat" if value.dtype.is_signed else "uadd.sat"
    far = str(value.stride * (lanes.width - 1))
    return lanes.w.intrinsic(op, register_type(value.dtype), value.text, far)


def emit_end_of_full(lanes: LaneContext, start: Value, limit: str) -> Value:
    """Emit the end of the fully active iterations.

    It is the first lane's induction variable when the first of all lanes finishes. The lanes count
    from a linear or uniform start up to limits of their own.
    """
    w = lanes.w
    dtype = start.dtype
    type_, scalar = register_type(dtype, lanes.width), register_type(dtype)
    first = lanes.vector(start)
    order = "slt" if dtype.is_signed else "ult"
    some = w.emit(f"icmp {order} {type_} {first}, {limit}")
    left = w.emit(f"sub {type_} {limit}, {first}")
    flag = widened("i1", lanes.width)
    trip_counts = w.emit(f"select {flag} {some}, {type_} {left}, {type_} zeroinitializer")
    name = f"llvm.vector.reduce.umin.v{lanes.width}{scalar}"
    fewest = w.call(name, scalar, (type_, trip_counts))
    return uniform(dtype, w.emit(f"add {scalar} {start.text}, {fewest}"))
