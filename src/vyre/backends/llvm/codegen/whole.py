"""One test for a whole workgroup: whether all that is peeled holds in every lane of every row.

Where a workgroup has many short rows, computing how far each of them reaches costs as much as its
work. Nearly all workgroups lie inside their buffers altogether, and two corners tell so.
"""

from __future__ import annotations

from vyre.backends.llvm.codegen.guards import Part, parts_of
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.linear import ALL_AXES
from vyre.backends.llvm.codegen.peel import Peeling
from vyre.backends.llvm.codegen.reach import WIDE, LoopRange, Reach
from vyre.ir import AnyExpr, BinOp

_ORDERS = (BinOp.LT, BinOp.LE, BinOp.GT, BinOp.GE)
_WRAPS = str(1 << 32)


def emit_whole(kernel: Kernel, peeling: Peeling, first: Lanes) -> str | None:
    """Whether all lanes run in vectors, an i1; None when no such test can be made.

    `first` is the first lane of the workgroup.
    """
    if peeling.interior.periods:
        return None
    guards = [*peeling.parts, *(found.part for found in peeling.interior.assumptions)]
    for condition in peeling.rows:
        guards += parts_of(condition, negated=False, is_integer=peeling.forms.is_integer)
    indices = [*peeling.accesses, *peeling.in_loops]
    even = peeling.interior.even
    if not guards and not indices and not even:
        return None
    if not all(_is_testable(peeling, guard) for guard in guards):
        return None
    if not all(_has_span(peeling, index) for _, index in indices):
        return None
    if not all(_has_span(peeling, e.start) and _has_span(peeling, e.rounds) for e in even):
        return None
    if not all(e.is_testable(peeling.forms, ALL_AXES) for e in even):
        return None
    w = kernel.w
    extents = (kernel.row, str(kernel.size[1]), str(kernel.size[2]))
    reach = Reach(kernel, first, extents, peeling.forms, _loops(peeling))
    holds = [_guard_holds(kernel, reach, guard) for guard in guards]
    holds += [one.emit_test(reach) for one in even]
    for key in indices:
        buffer, index = key
        stride, place = peeling.accesses.get(key, (1, 0))
        count = kernel.memories[buffer].count
        holds.append(reach.is_inside(index, count, before=place, after=stride - 1 - place))
    whole = holds[0]
    for other in (*holds[1:], *reach.exact):
        whole = w.emit(f"and i1 {whole}, {other}")
    return whole


def _loops(peeling: Peeling) -> dict[str, LoopRange]:
    return {**peeling.interior.loops, **peeling.loops}


def _has_span(peeling: Peeling, expr: AnyExpr) -> bool:
    forms = peeling.forms
    return forms.is_u32(expr) and Reach.supports(expr, forms, _loops(peeling), ALL_AXES)


def _is_testable(peeling: Peeling, guard: Part) -> bool:
    if guard.op not in (*_ORDERS, BinOp.NE, BinOp.EQ):
        return False
    return _has_span(peeling, guard.left) and _has_span(peeling, guard.right)


def _guard_holds(kernel: Kernel, reach: Reach, guard: Part) -> str:
    """Whether a comparison holds for all lanes: nothing wraps, and the spans lie apart.

    Or they are one and the same number.
    """
    w = kernel.w
    if guard.op in (BinOp.GT, BinOp.GE):
        guard = guard.mirrored()
    small, large = reach.span(guard.left), reach.span(guard.right)
    fits = [
        w.emit(f"icmp {order} {WIDE} {number}, {bound}")
        for span in (small, large)
        for order, number, bound in (("sge", span.least, "0"), ("slt", span.greatest, _WRAPS))
    ]
    order = "sle" if guard.op is BinOp.LE else "slt"
    holds = w.emit(f"icmp {order} {WIDE} {small.greatest}, {large.least}")
    if guard.op is BinOp.NE:
        other = w.emit(f"icmp slt {WIDE} {large.greatest}, {small.least}")
        holds = w.emit(f"or i1 {holds}, {other}")
    if guard.op is BinOp.EQ:
        holds = w.emit(f"icmp eq {WIDE} {small.least}, {large.greatest}")
        fits += [w.emit(f"icmp eq {WIDE} {span.least}, {span.greatest}") for span in (small, large)]
    for one in fits:
        holds = w.emit(f"and i1 {holds}, {one}")
    return holds
