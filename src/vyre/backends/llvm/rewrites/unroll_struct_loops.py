"""Loops of a few rounds over the parts of structures, written out.

In `for c in 0..5 { out[5 * i + c] = 2.0 * a[5 * i + c] }` lanes lie five elements apart, and the
rounds go through what is between them. With literals in the place of the counter, lanes read and
write whole structures. Rounds do not change by being written one after another; their stores then
move down to stand side by side, as far as nothing in between could see or undo them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index, is_lane_id
from vyre.backends.llvm.analysis.struct_strides import is_distance
from vyre.backends.llvm.rewrites.specialise_trip_counts import (
    TripCountCandidates,
    UnrolledBody,
    goes_on_early,
)
from vyre.ir.walk import (
    accesses_of,
    bodies,
    expr_children,
    map_bodies,
    rewrite_expr,
    walk_all_exprs,
    walk_expr,
    walk_stmts,
)

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

MOST_ROUNDS: Final = 16
MOST_WRITTEN: Final = 128
"""Statements that may come of a loop, and of those in it."""
DEEPEST_NAME: Final = 3
WIDEST: Final = 64
"""Elements of the largest structures."""
_WORDS = (ir.DataType.U32, ir.DataType.I32)
_WIDE = (ir.DataType.U64, ir.DataType.I64)


def short_loops_of(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
) -> TripCountCandidates | None:
    """The loops that are worth writing out, if any."""
    statements = list(walk_stmts(body))
    if not any(isinstance(s, ir.Loop) and _rounds_of(s) for s in statements):
        return None
    fixed = leaves - {s.name for s in statements if isinstance(s, ir.Assign)}
    search = _Search(LinearForms(program, body, outer, fixed, types), fixed)
    search.visit(body)
    if not search.found:
        return None
    return TripCountCandidates(search.forms, frozenset(search.found), (), search.found)


def with_short_loops(
    kernel: Kernel, body: ir.Body, outer: Mapping[str, ir.AnyExpr], leaves: frozenset[str]
) -> ir.Body:
    """The body with these loops written out; the very same if there are none."""
    found = short_loops_of(kernel.program, body, outer, leaves, kernel.types)
    if found is None:
        return body
    made = UnrolledBody(body, found, 0, kernel.types)
    kernel.remake(made)
    fixed = leaves - {s.name for s in walk_stmts(made.body) if isinstance(s, ir.Assign)}
    forms = LinearForms(kernel.program, made.body, outer, fixed, made.types)
    moving = StoresLast(forms, made.types)
    last = moving.body(made.body)
    kernel.retain(last)
    kernel.learn(made.types, moving.remade)
    return last


class _Search:
    def __init__(self, forms: LinearForms, leaves: frozenset[str]) -> None:
        self.forms = forms
        self.found: dict[str, range] = {}
        self._leaves = leaves

    def visit(self, body: ir.Body) -> None:
        """Look at loops, at outer ones first: they are written out with all short ones in them."""
        for statement in body:
            rounds = _rounds_of(statement) if isinstance(statement, ir.Loop) else None
            if rounds and isinstance(statement, ir.Loop) and _written(statement) <= MOST_WRITTEN:
                inner = _nest(statement)
                if inner and self._lie_apart(statement, inner):
                    self.found.update(inner)
                    continue
            for nested in bodies(statement):
                self.visit(nested)

    def _lie_apart(self, loop: ir.Loop, counters: Mapping[str, range]) -> bool:
        """Whether lanes are some elements apart where the counters say which one is meant.

        Loops that find their way by what they have computed are chains of loads, which go on lane
        by lane however much is read at once.
        """
        apart = False
        if any(isinstance(n, ir.Cast) and n.dtype in _WIDE for n in walk_all_exprs(loop.body)):
            # Words that are put together from parts are read as words by lanes for themselves.
            return False
        for statement in walk_stmts(loop.body):
            for buffer, index in accesses_of(statement):
                if buffer in self.forms.private:
                    continue
                written = self.forms.expand(index)
                if not self.forms.is_pure(written):
                    return False
                names = {node.name for node in walk_expr(written) if isinstance(node, ir.Var)}
                if not names.isdisjoint(counters):
                    first = _at_first(flat_index(written), counters, self.forms)
                    apart = apart or self._is_apart(first)
        return apart

    def _is_apart(self, index: ir.AnyExpr) -> bool:
        step = self.forms.stride(index) if self.forms.is_u32(index) else None
        if step is not None:
            return 1 < step <= WIDEST
        return any(
            isinstance(node, ir.Binary)
            and node.op is ir.BinOp.MUL
            and any(is_distance(side, self.forms, self._leaves) for side in (node.left, node.right))
            and any(map(is_lane_id, walk_expr(node)))
            for node in walk_expr(index)
        )


def _rounds_of(loop: ir.Loop) -> range | None:
    """The rounds of a loop that has a few."""
    start, stop = loop.start, loop.stop
    if not isinstance(start, ir.Lit) or not isinstance(stop, ir.Lit) or start.dtype not in _WORDS:
        return None
    found = range(int(start.value), int(stop.value))
    return found if 2 <= len(found) <= MOST_ROUNDS else None


def _nest(loop: ir.Loop) -> dict[str, range] | None:
    """A loop with all short ones in it; None if a round may leave one of them."""
    found: dict[str, range] = {}
    for statement in walk_stmts((loop,)):
        rounds = _rounds_of(statement) if isinstance(statement, ir.Loop) else None
        if rounds and isinstance(statement, ir.Loop):
            if goes_on_early(statement.body):
                return None
            found[statement.var] = rounds
    return found


def _written(loop: ir.Loop) -> int:
    """How many statements that do something come of a loop."""
    rounds = _rounds_of(loop)
    return len(rounds or (0,)) * sum(map(_weight, loop.body))


def _weight(statement: ir.AnyStmt) -> int:
    if isinstance(statement, ir.Loop):
        return 1 + _written(statement)
    if isinstance(statement, ir.Let) and _is_name(statement.value):
        return 0
    return 1 + sum(_weight(inner) for nested in bodies(statement) for inner in nested)


def _is_name(value: ir.AnyExpr) -> bool:
    """Whether a value is a part of an index, or a number that is known: nothing comes of it."""
    return value.depth <= DEEPEST_NAME and not any(
        isinstance(node, ir.Load) and not isinstance(node.index, ir.Lit)
        for node in walk_expr(value)
    )


def _at_first(index: ir.AnyExpr, counters: Mapping[str, range], forms: LinearForms) -> ir.AnyExpr:
    """An index with literals in the place of counters; which ones does not matter."""

    def one(node: ir.AnyExpr) -> ir.AnyExpr:
        match node:
            case ir.Var(name) if name in counters:
                return ir.Lit(forms.type_of(node), 0)
            case ir.Cast(ir.Lit() as literal, dtype) if dtype in _WORDS:
                return ir.Lit(dtype, literal.bits)
            case _:
                return node

    return rewrite_expr(index, one)


# Stores ------------------------------------------------------------------------------------------


class StoresLast:
    """Moves stores down to those that follow, where there is nothing but straight code between."""

    def __init__(self, forms: LinearForms, types: dict[str, ir.DataType]) -> None:
        self._forms = forms
        self._types = types
        self.remade: dict[int, int] = {}
        """Stores that were made anew, by identity, and which ones they stand for."""
        self._waiting: list[ir.Store] = []

    def body(self, body: ir.Body) -> ir.Body:
        """The statements in their new order."""
        made: list[ir.AnyStmt] = []
        for statement in body:
            if not isinstance(statement, (ir.Let, ir.Assign, ir.Store)):
                self._flush(made)
                made.append(map_bodies(statement, self.body))
                continue
            if not all(self._may_wait(node) for node in _looks(statement)):
                self._flush(made)
            if isinstance(statement, ir.Store):
                self._store(statement, made)
            else:
                made.append(statement)
        self._flush(made)
        return tuple(made)

    def _store(self, store: ir.Store, made: list[ir.AnyStmt]) -> None:
        index = self._forms.expand(store.index)
        if not self._forms.is_pure(index) or store.buffer in self._forms.private:
            self._flush(made)
            made.append(store)
            return
        if not self._may_wait(store):
            self._flush(made)
        value = store.value
        if not isinstance(value, ir.Lit):
            name = self._fresh(self._forms.type_of(value))
            made.append(ir.Let(name, value))
            value = ir.Var(name)
        later = ir.Store(store.buffer, store.index, value)
        self.remade[id(later)] = id(store)
        self._waiting.append(later)

    def _may_wait(self, access: ir.Load | ir.Atomic | ir.Store) -> bool:
        """Whether all stores that wait are to other elements than the one that is looked at.

        Sums of the same number and different literals are different, wrapped around or not. What
        is outside along some axis is no element at all.
        """
        if isinstance(access, ir.Atomic):
            return not self._waiting
        forms, index = self._forms, flat_index(self._forms.expand(access.index))
        base, place = forms.without_offset(index), forms.offset(index) % (1 << 32)
        for store in self._waiting:
            if store.buffer != access.buffer:
                continue
            there = flat_index(forms.expand(store.index))
            if not forms.is_pure(index) or forms.without_offset(there) != base:
                return False
            if forms.offset(there) % (1 << 32) == place:
                return False
        return True

    def _flush(self, made: list[ir.AnyStmt]) -> None:
        """All that wait, those to the same buffer side by side: different ones share no element."""
        buffers = dict.fromkeys(store.buffer for store in self._waiting)
        made += [s for buffer in buffers for s in self._waiting if s.buffer == buffer]
        self._waiting.clear()

    def _fresh(self, dtype: ir.DataType) -> str:
        number = len(self._types)
        while f"part.{number}" in self._types:
            number += 1
        self._types[f"part.{number}"] = dtype
        return f"part.{number}"


def _looks(statement: ir.AnyStmt) -> list[ir.Load | ir.Atomic]:
    return [
        node
        for child in expr_children(statement)
        for node in walk_expr(child)
        if isinstance(node, (ir.Load, ir.Atomic))
    ]


__all__ = ["StoresLast", "short_loops_of", "with_short_loops"]
