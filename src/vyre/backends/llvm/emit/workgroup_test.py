"""One versioning test per workgroup: the peeled conditions hold in all its lanes.

Where a workgroup has many short rows, computing the bounds of each row costs as much as its work.
Nearly all workgroups lie entirely inside their buffers, and evaluating two corners proves it.
"""

from __future__ import annotations

from vyre.backends.llvm.analysis.affine_forms import ALL_AXES
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.range_expander import Condition, LoopRange, RangeExpander, all_of
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir import AnyExpr, BinOp, DataType
from vyre.rewrite.conditions import Conjunct, conjuncts_of

_ORDERS = (BinOp.LT, BinOp.LE, BinOp.GT, BinOp.GE)


def emit_workgroup_test(kernel: Kernel, peeling: RowPartition, first: LaneContext) -> str | None:
    """Emit whether all lanes run in vectors, an i1; None if no test is possible.

    `first` is the first lane of the workgroup.
    """
    if peeling.interior.periods:
        return None
    guards = [*peeling.parts, *(assumption.part for assumption in peeling.interior.assumptions)]
    for condition in peeling.rows:
        guards += conjuncts_of(condition, negated=False, is_integer=peeling.forms.is_integer)
    indices = [*peeling.accesses, *peeling.in_loops]
    even = peeling.interior.even
    if not guards and not indices and not even:
        return None
    if not all(_is_testable(peeling, guard) for guard in guards):
        return None
    if not all(_has_span(peeling, index) for _, index in indices):
        return None
    if not all(_has_span(peeling, e.start) and _has_span(peeling, e.trip_count) for e in even):
        return None
    if not all(e.is_testable(peeling.forms, ALL_AXES) for e in even):
        return None
    extents = (kernel.row, str(kernel.size[1]), str(kernel.size[2]))
    reach = RangeExpander(kernel, first, extents, peeling.forms, _loops(peeling))
    holds = [flag for guard in guards for flag in _guard_holds(kernel, reach, guard)]
    holds += [flag for rebased in even for flag in rebased.emit_test(reach)]
    for key in indices:
        buffer, index = key
        stride, place = peeling.accesses.get(key, (1, 0))
        stride = abs(stride)
        count = kernel.memories[buffer].count
        holds += reach.is_inside(index, count, before=place, after=stride - 1 - place)
    return all_of(kernel.w, [*holds, *reach.exact])


def _loops(peeling: RowPartition) -> dict[str, LoopRange]:
    return {**peeling.interior.loops, **peeling.loops}


def _has_span(peeling: RowPartition, expr: AnyExpr) -> bool:
    forms = peeling.forms
    return forms.is_u32(expr) and RangeExpander.supports(expr, forms, _loops(peeling), ALL_AXES)


def _is_testable(peeling: RowPartition, guard: Conjunct) -> bool:
    if guard.op not in (*_ORDERS, BinOp.NE, BinOp.EQ):
        return False
    return _has_span(peeling, guard.left) and _has_span(peeling, guard.right)


def _guard_holds(kernel: Kernel, reach: RangeExpander, guard: Conjunct) -> list[Condition]:
    """Emit the conditions under which a comparison holds for all lanes.

    Nothing wraps, and the ranges are disjoint, or for equality one and the same number.
    """
    if guard.op in (BinOp.GT, BinOp.GE):
        guard = guard.mirrored()
    small, large = reach.span(guard.left), reach.span(guard.right)
    fits = [
        condition for span in (small, large) for condition in reach.fits_word(span, DataType.U32)
    ]
    after = reach.difference(large.least, small.greatest)
    beyond = reach.difference(small.greatest, large.least)
    match guard.op:
        case BinOp.LE:
            return [*fits, (after, False)]
        case BinOp.EQ:
            before = reach.difference(small.least, large.greatest)
            return [*fits, (after, False), (before, False)]
        case BinOp.NE:
            other = reach.difference(large.greatest, small.least)
            return [*fits, (kernel.w.emit(f"or i64 {beyond}, {other}"), True)]
        case _:
            return [*fits, (beyond, True)]
