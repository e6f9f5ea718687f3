"""Interchange of grid axes, so that vector lanes run along contiguous memory.

    a[gid.x * n + gid.y]  on workgroups (16, 4, 1)  ->  a[gid.y * n + gid.x]  on (4, 16, 1)

Lanes of a vector are neighbours along x. In an array of rows indexed by `gid.x` they are a row
apart, while neighbours along y are contiguous. Ids, workgroup size and grid change places together,
so the same invocations run with the same ids, in another order.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.ir.independence import are_apart
from vyre.ir.walk import (
    bodies,
    rewrite_exprs,
    walk_own_exprs,
)
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import vyre_pass

_OF_GRID = frozenset({ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.NUM_WORKGROUPS})


@vyre_pass(name="interchange_axes", phase=PassPhase.LOWERING, family=CostModelFamily.MEMORY)
class InterchangeAxes(CpuPass):
    """Interchanges x with the axis along which more accesses are contiguous.

    Legal when no result depends on the order of invocations: no barriers, atomics, messages, and no
    ids within a workgroup or subgroup. Profitable when fewer accesses are strided, and more of them
    contiguous, than along x; what loops do counts eightfold per level.
    """

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with two axes interchanged, and which."""
        axis = contiguous_axis(program)
        if not axis:
            return program
        context.facts.interchanged_axis = axis
        return with_axes_interchanged(program, axis)


def contiguous_axis(program: ir.Program) -> int:
    """The axis that x should change places with; 0 where x is best."""
    used = NodeKinds.of(program).axes(ir.BuiltinKind.GLOBAL_ID)
    if not (used - {0} and 0 in used) or not may_reorder_invocations(program):
        return 0
    as_it_is = _Accesses(program, 0)
    if not as_it_is.apart:
        return 0
    found = 0
    best = as_it_is
    for axis in sorted(used - {0}):
        turned = _Accesses(program, axis)
        if turned.apart < best.apart and turned.side_by_side > best.side_by_side:
            found, best = axis, turned
    return found


def with_axes_interchanged(program: ir.Program, axis: int) -> ir.Program:
    """The program with ids and workgroup size of two axes interchanged."""
    places = {0: axis, axis: 0}

    def change(node: ir.AnyExpr) -> ir.AnyExpr:
        if isinstance(node, ir.Builtin) and node.kind in _OF_GRID and node.axis in places:
            return ir.Builtin(node.kind, places[node.axis])
        return node

    size = list(program.workgroup_size)
    size[0], size[axis] = size[axis], size[0]
    changed = program.with_rewritten_entry(rewrite_exprs(program.entry, change))
    return changed.with_workgroup_size(size)


def may_reorder_invocations(program: ir.Program) -> bool:
    """True if no observable result depends on the order of invocations."""
    return _OF_GRID.issuperset(NodeKinds.of(program).builtins) and are_apart(program.entry)


class _Accesses:
    """Accesses by stride, were lanes to run along an axis; weighted by loop depth."""

    def __init__(self, program: ir.Program, axis: int) -> None:
        self.side_by_side = 0
        self.apart = 0
        self._axis = axis
        self._shapes = Divergence(program, program.entry, (axis,), in_step=True)
        self._private = {decl.name for decl in program.buffers if decl.is_local}
        self._values: dict[str, ir.AnyExpr] = {}
        self._visit(program.entry, 1)

    def _visit(self, body: ir.Body, weight: int) -> None:
        for statement in body:
            if isinstance(statement, ir.Let) and statement.name not in self._shapes.assigned:
                self._values[statement.name] = statement.value
            if isinstance(statement, ir.Store):
                self._count(statement.buffer, statement.index, weight)
            for node in walk_own_exprs(statement):
                if isinstance(node, ir.Load):
                    self._count(node.buffer, node.index, weight)
            inner = (
                weight * heuristics.ASSUMED_TRIP_COUNT
                if isinstance(statement, (ir.Loop, ir.While))
                else weight
            )
            for nested in bodies(statement):
                self._visit(nested, inner)

    def _count(self, buffer: str, index: ir.AnyExpr, weight: int) -> None:
        if buffer in self._private:
            return
        step = self._step(index)
        if step == 1:
            self.side_by_side += weight
        elif step is None or not 0 <= step <= heuristics.MAX_WHOLE_STRUCT_STRIDE:
            self.apart += weight

    def _step(self, expr: ir.AnyExpr) -> int | None:
        """The stride of an index from lane to lane; None if it is unknown."""
        if not self._shapes.is_varying(expr):
            return 0
        match expr:
            case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis) if axis == self._axis:
                return 1
            case ir.Var(name) if name in self._values:
                return self._step(self._values[name])
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
                first, second = self._step(left), self._step(right)
                if first is None or second is None:
                    return None
                return first + second if op is ir.BinOp.ADD else first - second
            case ir.Binary(ir.BinOp.MUL, left, ir.Lit(_, _) as factor) | ir.Binary(
                ir.BinOp.MUL, ir.Lit(_, _) as factor, left
            ):
                step = self._step(left)
                return None if step is None else step * int(factor.value)
            case ir.Binary(ir.BinOp.SHL, left, ir.Lit() as amount):
                step = self._step(left)
                return None if step is None else step << (int(amount.value) & 31)
            case ir.Cast(value, _):
                return self._step(value)
            case ir.Binary(ir.BinOp.MIN | ir.BinOp.MAX | ir.BinOp.REM, left, right):
                return self._first((left, right))
            case ir.Select(_, yes, no):
                return self._first((yes, no))
            case _:
                return None

    def _first(self, arms: tuple[ir.AnyExpr, ...]) -> int | None:
        """The stride where no border is near: that of the first arm that varies."""
        return next((self._step(arm) for arm in arms if self._shapes.is_varying(arm)), None)


__all__ = ["InterchangeAxes", "contiguous_axis", "may_reorder_invocations"]
