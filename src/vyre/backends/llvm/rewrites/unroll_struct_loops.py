"""Full unrolling of short loops over the members of structures.

    for c in 0..5 { out[5 * i + c] = 2.0 * a[5 * i + c] }
->
    out[5 * i] = 2.0 * a[5 * i]  …  out[5 * i + 4] = 2.0 * a[5 * i + 4]

The stride of lanes is five elements, and the iterations access the elements in between. With
literals in place of the counter, lanes load and store whole structures. Stores are then sunk until
they are adjacent.

Legal when the bounds are literals and the loops have no break or continue of their own; a store
sinks past statements that neither load nor store its element.
Profitable when an access is strided across lanes and its member is a counter; loops of more than
`MAX_STRUCT_LOOP_ITERATIONS` iterations or `MAX_STRUCT_LOOP_STATEMENTS` unrolled statements are left
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index, is_lane_id
from vyre.backends.llvm.analysis.struct_strides import is_distance
from vyre.backends.llvm.rewrites.full_unrolling import UnrolledBody, UnrollPlan
from vyre.backends.llvm.rewrites.rebuilt_accesses import RebuiltAccesses
from vyre.ir.walk import (
    accesses_of,
    assigned_names,
    bodies,
    map_bodies,
    rewrite_expr,
    variables_of,
    walk_all_exprs,
    walk_expr,
    walk_own_exprs,
    walk_stmts,
)
from vyre.rewrite.bodies import jumps

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

_WORDS = (ir.DataType.U32, ir.DataType.I32)
_WIDE = (ir.DataType.U64, ir.DataType.I64)


def short_loops_of(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
) -> UnrollPlan | None:
    """Loops that are profitable to unroll; None if there are none."""
    statements = list(walk_stmts(body))
    if not any(isinstance(s, ir.Loop) and _iterations_of(s) for s in statements):
        return None
    fixed = leaves - {s.name for s in statements if isinstance(s, ir.Assign)}
    search = _Search(LinearForms(program, body, outer, fixed, types), fixed)
    search.visit(body)
    if not search.loops:
        return None
    return UnrollPlan(search.forms, frozenset(search.loops), (), search.loops)


def with_short_loops(
    kernel: Kernel, body: ir.Body, outer: Mapping[str, ir.AnyExpr], leaves: frozenset[str]
) -> ir.Body:
    """Unroll these loops; returns the same body if there are none."""
    candidates = short_loops_of(kernel.program, body, outer, leaves, kernel.types)
    if candidates is None:
        return body
    unrolled = UnrolledBody(body, candidates, 0, kernel.types)
    kernel.learn(unrolled.types, unrolled.rebuilt)
    fixed = leaves - assigned_names(unrolled.body)
    forms = LinearForms(kernel.program, unrolled.body, outer, fixed, unrolled.types)
    sinking = StoresLast(forms, unrolled.types)
    sunk = sinking.body(unrolled.body)
    kernel.learn(unrolled.types, sinking.rebuilt)
    return sunk


class _Search:
    def __init__(self, forms: LinearForms, leaves: frozenset[str]) -> None:
        self.forms = forms
        self.loops: dict[str, range] = {}
        self._leaves = leaves

    def visit(self, body: ir.Body) -> None:
        """Collect loops, outer ones first: a nest is unrolled with its inner loops."""
        for statement in body:
            iterations = _iterations_of(statement) if isinstance(statement, ir.Loop) else None
            if (
                iterations
                and isinstance(statement, ir.Loop)
                and _written(statement) <= heuristics.MAX_STRUCT_LOOP_STATEMENTS
            ):
                inner = _nest(statement)
                if inner and self._is_strided_nest(statement, inner):
                    self.loops.update(inner)
                    continue
            for nested in bodies(statement):
                self.visit(nested)

    def _is_strided_nest(self, loop: ir.Loop, counters: Mapping[str, range]) -> bool:
        """True if an access is strided across lanes, counters selecting the member.

        Loops whose indices depend on loaded values are chains of loads, which run per lane however
        much is loaded at once.
        """
        apart = False
        if any(isinstance(n, ir.Cast) and n.dtype in _WIDE for n in walk_all_exprs(loop.body)):
            # Words that are combined from members are loaded as words by each lane.
            return False
        for statement in walk_stmts(loop.body):
            for buffer, index in accesses_of(statement):
                if buffer in self.forms.private:
                    continue
                written = self.forms.expand(index)
                if not self.forms.is_pure(written):
                    return False
                names = variables_of(written)
                if not names.isdisjoint(counters):
                    first = _at_first(flat_index(written), counters, self.forms)
                    apart = apart or self._is_strided(first)
        return apart

    def _is_strided(self, index: ir.AnyExpr) -> bool:
        step = self.forms.stride(index) if self.forms.is_u32(index) else None
        if step is not None:
            return 1 < step <= heuristics.MAX_STRUCT_LOOP_STRIDE
        return any(
            isinstance(node, ir.Binary)
            and node.op is ir.BinOp.MUL
            and any(is_distance(side, self.forms, self._leaves) for side in (node.left, node.right))
            and any(map(is_lane_id, walk_expr(node)))
            for node in walk_expr(index)
        )


def _iterations_of(loop: ir.Loop) -> range | None:
    """Iterations of a short loop with literal bounds; None for other loops."""
    start, stop = loop.start, loop.stop
    if not isinstance(start, ir.Lit) or not isinstance(stop, ir.Lit) or start.dtype not in _WORDS:
        return None
    iterations = range(int(start.value), int(stop.value))
    return iterations if 2 <= len(iterations) <= heuristics.MAX_STRUCT_LOOP_ITERATIONS else None


def _nest(loop: ir.Loop) -> dict[str, range] | None:
    """A loop nest's short loops; None if one has a break, a continue, or a loop of any length."""
    nest: dict[str, range] = {}
    for statement in walk_stmts((loop,)):
        iterations = _iterations_of(statement) if isinstance(statement, ir.Loop) else None
        if iterations and isinstance(statement, ir.Loop):
            if jumps(statement.body) or _has_while(statement.body):
                return None
            nest[statement.var] = iterations
    return nest


def _has_while(body: ir.Body) -> bool:
    return any(isinstance(s, ir.While) for s in walk_stmts(body))


def _written(loop: ir.Loop) -> int:
    """Statements of an unrolled loop, without those that fold away."""
    iterations = _iterations_of(loop)
    return len(iterations or (0,)) * sum(map(_weight, loop.body))


def _weight(statement: ir.AnyStmt) -> int:
    if isinstance(statement, ir.Loop):
        return 1 + _written(statement)
    if isinstance(statement, ir.Let) and _is_name(statement.value):
        return 0
    return 1 + sum(_weight(inner) for nested in bodies(statement) for inner in nested)


def _is_name(value: ir.AnyExpr) -> bool:
    """True if a value folds away: a small index term or literal load."""
    return value.depth <= heuristics.MAX_FOLDED_DEPTH and not any(
        isinstance(node, ir.Load) and not isinstance(node.index, ir.Lit)
        for node in walk_expr(value)
    )


def _at_first(index: ir.AnyExpr, counters: Mapping[str, range], forms: LinearForms) -> ir.AnyExpr:
    """Substitute literals for counters in an index; their values do not matter."""

    def substitute(node: ir.AnyExpr) -> ir.AnyExpr:
        match node:
            case ir.Var(name) if name in counters:
                return ir.Lit(forms.type_of(node), 0)
            case ir.Cast(ir.Lit() as literal, dtype) if dtype in _WORDS:
                return ir.Lit(dtype, literal.bits)
            case _:
                return node

    return rewrite_expr(index, substitute)


# Stores ------------------------------------------------------------------------------------------


class StoresLast:
    """Sinks stores to later ones within straight-line code."""

    def __init__(self, forms: LinearForms, types: dict[str, ir.DataType]) -> None:
        self._forms = forms
        self._types = types
        self.rebuilt = RebuiltAccesses()
        self._pending: list[ir.Store] = []

    def body(self, body: ir.Body) -> ir.Body:
        """Reorder the statements of a body."""
        reordered: list[ir.AnyStmt] = []
        for statement in body:
            if not isinstance(statement, (ir.Let, ir.Assign, ir.Store)):
                self._flush(reordered)
                reordered.append(map_bodies(statement, self.body))
                continue
            if not all(self._may_sink_past(node) for node in _loads(statement)):
                self._flush(reordered)
            if isinstance(statement, ir.Store):
                self._store(statement, reordered)
            else:
                reordered.append(statement)
        self._flush(reordered)
        return tuple(reordered)

    def _store(self, store: ir.Store, reordered: list[ir.AnyStmt]) -> None:
        index = self._forms.expand(store.index)
        if not self._forms.is_pure(index) or store.buffer in self._forms.private:
            self._flush(reordered)
            reordered.append(store)
            return
        if not self._may_sink_past(store):
            self._flush(reordered)
        value = store.value
        if not isinstance(value, ir.Lit):
            name = self._fresh(self._forms.type_of(value))
            reordered.append(ir.Let(name, value))
            value = ir.Var(name)
        later = ir.Store(store.buffer, store.index, value)
        self.rebuilt.add(later, store)
        self._pending.append(later)

    def _may_sink_past(self, access: ir.Load | ir.Atomic | ir.Store) -> bool:
        """True if no pending store may alias an access.

        Sums of one base and different literals differ, wrapped or not. An index that is out of
        bounds along some axis accesses no element at all.
        """
        if isinstance(access, ir.Atomic):
            return not self._pending
        forms, index = self._forms, flat_index(self._forms.expand(access.index))
        base, offset = forms.without_offset(index), forms.offset(index) % (1 << 32)
        for store in self._pending:
            if store.buffer != access.buffer:
                continue
            there = flat_index(forms.expand(store.index))
            if not forms.is_pure(index) or forms.without_offset(there) != base:
                return False
            if forms.offset(there) % (1 << 32) == offset:
                return False
        return True

    def _flush(self, reordered: list[ir.AnyStmt]) -> None:
        """Emit the pending stores, grouped by buffer: different buffers share no element."""
        buffers = dict.fromkeys(store.buffer for store in self._pending)
        reordered += [s for buffer in buffers for s in self._pending if s.buffer == buffer]
        self._pending.clear()

    def _fresh(self, dtype: ir.DataType) -> str:
        number = len(self._types)
        while f"part.{number}" in self._types:
            number += 1
        self._types[f"part.{number}"] = dtype
        return f"part.{number}"


def _loads(statement: ir.AnyStmt) -> list[ir.Load | ir.Atomic]:
    return [node for node in walk_own_exprs(statement) if isinstance(node, (ir.Load, ir.Atomic))]


__all__ = ["StoresLast", "short_loops_of", "with_short_loops"]
