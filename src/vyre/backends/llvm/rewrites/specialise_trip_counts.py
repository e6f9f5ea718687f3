"""Loops over the parts of structures, written out for the sizes that structures usually have.

In `for c in 0..image.shape[2] { out[p * out.shape[2] + c] = … }` lanes lie as far apart as the loop
has rounds, which is known when the kernel runs. It is 3 or 4 more often than not, and with a number
for it the rounds are so many statements, and lanes are read together and sorted in registers.
Everything that must be that number is the same for a whole workgroup, so one test chooses between
the work as it was written and the work for a number, in which the number stands in place of all
that was tested. Nothing is guessed: where the test holds, both say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index
from vyre.backends.llvm.analysis.index_folding import folded
from vyre.backends.llvm.analysis.struct_strides import is_distance
from vyre.ir.walk import (
    accesses_of,
    bodies,
    expr_children,
    map_bodies,
    map_exprs,
    rebuilt,
    walk_expr,
    walk_stmts,
    without_blocks,
)
from vyre.record import dataclass
from vyre.rewrite.literal_legality import lawful

USUAL: Final = (3, 4, 1, 2)
"""Parts of structures that work is written out for."""
MOST_STATEMENTS: Final = 24
"""Statements of work that is written out for each of these."""


@dataclass(frozen=True, slots=True)
class TripCountCandidates:
    """Loops over the parts of structures."""

    forms: LinearForms
    loops: frozenset[str]
    """Their counters."""
    sizes: tuple[ir.AnyExpr, ...]
    """What has to be the number of parts, names written out; the same for all lanes of a row."""
    rounds: Mapping[str, range] = field(default_factory=dict[str, range])
    """The rounds of those loops whose number is known."""


def trip_count_candidates(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
) -> TripCountCandidates | None:
    """The loops of some work over parts that lie side by side, if there are any."""
    statements = list(walk_stmts(body))
    if len(statements) > MOST_STATEMENTS or not any(isinstance(s, ir.Loop) for s in statements):
        return None
    fixed = leaves - {s.name for s in statements if isinstance(s, ir.Assign)}
    forms = LinearForms(program, body, outer, fixed, types)
    loops: set[str] = set()
    sizes: dict[ir.AnyExpr, None] = {}
    for loop in statements:
        if not isinstance(loop, ir.Loop) or loop.start != ir.Lit(ir.DataType.U32, 0):
            continue
        stop = forms.expand(loop.stop)
        if not is_distance(stop, forms, fixed) or goes_on_early(loop.body):
            continue
        found = _distances(loop, forms, fixed)
        if found:
            loops.add(loop.var)
            sizes.update(dict.fromkeys((stop, *found)))
    return TripCountCandidates(forms, frozenset(loops), tuple(sizes)) if loops else None


def _distances(loop: ir.Loop, forms: LinearForms, leaves: frozenset[str]) -> list[ir.AnyExpr]:
    """How far apart lanes are, where a loop goes through what is between them.

    A row of a matrix looks the same, but is long: there are parts where structures have places
    along several axes, or where the loop stores to all of them.
    """
    found: list[ir.AnyExpr] = []
    likely = False
    for statement in walk_stmts(loop.body):
        for buffer, index in accesses_of(statement):
            product = _structure(forms.expand(index), loop.var)
            if product is None or buffer in forms.private:
                continue
            for position, size in ((product.left, product.right), (product.right, product.left)):
                if not is_distance(size, forms, leaves) or not forms.is_u32(position):
                    continue
                if forms.stride(position) == 1:
                    found.append(size)
                    likely = likely or _has_axes(position) or isinstance(statement, ir.Store)
                    break
    return found if likely else []


def _structure(index: ir.AnyExpr, counter: str) -> ir.Binary | None:
    """Where a structure begins of which the counter tells the part."""
    flat = flat_index(index)
    if isinstance(flat, ir.Binary) and flat.op is ir.BinOp.ADD:
        for base, place in ((flat.left, flat.right), (flat.right, flat.left)):
            if place == ir.Var(counter) and isinstance(base, ir.Binary) and base.op is ir.BinOp.MUL:
                return base
    return None


def _has_axes(position: ir.AnyExpr) -> bool:
    """Whether a position is one of several lines of positions."""
    return any(
        isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL for node in walk_expr(position)
    )


def goes_on_early(body: ir.Body) -> bool:
    """Whether statements leave the loop that they are the body of, or go on early."""
    for statement in body:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if not isinstance(statement, ir.Loop) and any(map(goes_on_early, bodies(statement))):
            return True
    return False


class UnrolledBody:
    """Work for a number of parts."""

    def __init__(
        self,
        body: ir.Body,
        channels: TripCountCandidates,
        number: int,
        types: Mapping[str, ir.DataType],
    ) -> None:
        self._channels = channels
        self._number = number
        self.types = dict(types)
        self.remade: dict[int, int] = {}
        """Accesses that were made anew, by identity, and which ones they stand for."""
        self._assigned = {s.name for s in walk_stmts(body) if isinstance(s, ir.Assign)}
        self.body = self._body(body, {})

    def _body(self, body: ir.Body, names: dict[str, ir.AnyExpr]) -> ir.Body:
        return tuple(made for statement in body for made in self._statement(statement, names))

    def _statement(
        self, statement: ir.AnyStmt, names: dict[str, ir.AnyExpr]
    ) -> Iterable[ir.AnyStmt]:
        if isinstance(statement, ir.Loop) and statement.var in self._channels.loops:
            return self._rounds(statement, names)
        made = map_exprs(statement, lambda child: self._expr(child, names))
        for one in ("name", "var"):
            new = names.get(getattr(made, one, ""))
            if isinstance(made, (ir.Let, ir.Assign, ir.Loop)) and isinstance(new, ir.Var):
                made = rebuilt(made, {one: new.name})
        if isinstance(made, ir.Store) and made is not statement:
            self.remade[id(made)] = id(statement)
        if (
            isinstance(made, ir.Let)
            and isinstance(statement, ir.Let)
            and isinstance(made.value, ir.Lit)
        ):
            self._literal(statement.name, made.value, names)
        return (map_bodies(made, lambda inner: self._body(inner, names)),)

    def _literal(self, name: str, value: ir.Lit, names: dict[str, ir.AnyExpr]) -> None:
        """Put a literal in the place of a name that a round gives it and never changes."""
        if name in names and name not in self._assigned:
            names[name] = value

    def _expr(self, expr: ir.AnyExpr, names: dict[str, ir.AnyExpr]) -> ir.AnyExpr:
        sizes = self._channels.sizes
        if (
            sizes
            and isinstance(expr, (ir.Load, ir.Var))
            and self._channels.forms.expand(expr) in sizes
        ):
            return ir.Lit(ir.DataType.U32, self._number)
        if isinstance(expr, ir.Var):
            return names.get(expr.name, expr)
        if expr.depth <= 1:
            return expr
        made = map_exprs(expr, lambda child: self._expr(child, names))
        if made is not expr and isinstance(made, (ir.Load, ir.Atomic)):
            self.remade[id(made)] = id(expr)
        if made is expr:
            return expr
        return folded(lawful(made, expr, {}) if isinstance(made, ir.Binary) else made)

    def _rounds(self, loop: ir.Loop, names: dict[str, ir.AnyExpr]) -> list[ir.AnyStmt]:
        known = self._channels.rounds.get(loop.var)
        rounds: list[list[ir.AnyStmt]] = []
        for number in range(self._number) if known is None else known:
            counter = ir.Lit(self.types[loop.var], number % (1 << 32))
            own: dict[str, ir.AnyExpr] = {**names, loop.var: counter}
            for statement in walk_stmts(loop.body):
                if isinstance(statement, (ir.Let, ir.Loop)):
                    name = statement.name if isinstance(statement, ir.Let) else statement.var
                    own[name] = ir.Var(self._fresh(name, self.types[name]))
            rounds.append(without_blocks(self._body(loop.body, own)))
        if known is None and _is_separable(loop, self._channels.forms):
            return self._stores_last(loop, rounds)
        return [statement for one in rounds for statement in one]

    def _stores_last(self, loop: ir.Loop, rounds: list[list[ir.AnyStmt]]) -> list[ir.AnyStmt]:
        """All rounds compute before any of them stores: stores side by side are one."""
        made: list[ir.AnyStmt] = []
        stores: list[list[ir.Store]] = []
        written = without_blocks(loop.body)
        for one in rounds:
            stores.append([])
            for statement, old in zip(one, written, strict=True):
                if not isinstance(statement, ir.Store) or not isinstance(old, ir.Store):
                    made.append(statement)
                    continue
                dtype = self._channels.forms.type_of(old.value)
                name = self._fresh(f"{loop.var}.part", dtype)
                made.append(ir.Let(name, statement.value))
                store = rebuilt(statement, {"value": ir.Var(name)})
                self.remade[id(store)] = self.remade.get(id(statement), id(statement))
                stores[-1].append(store)
        made += [store for column in zip(*stores, strict=True) for store in column]
        return made

    def _fresh(self, hint: str, dtype: ir.DataType) -> str:
        number = 1
        while f"{hint}.{number}" in self.types:
            number += 1
        self.types[f"{hint}.{number}"] = dtype
        return f"{hint}.{number}"


def _is_separable(loop: ir.Loop, forms: LinearForms) -> bool:
    """Whether no round looks at what another one stores, nor at what it has stored itself.

    A round then computes, and stores at the end of it. What it stores to, it looks at only where it
    stores: at an index that has the counter added to what is the same in all rounds, so that the
    elements of different rounds are different ones.
    """
    body = without_blocks(loop.body)
    stores = [s for s in body if isinstance(s, ir.Store)]
    first = len(body) - len(stores)
    if not stores or not all(isinstance(s, (ir.Let, ir.Assign)) for s in body[:first]):
        return False
    buffers = [store.buffer for store in stores]
    if len(set(buffers)) < len(buffers) or not forms.private.isdisjoint(buffers):
        return False
    places = {store.buffer: forms.expand(store.index) for store in stores}
    if not all(_is_own(index, loop.var, forms) for index in places.values()):
        return False
    stored: set[str] = set()
    for statement in body:
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, ir.Atomic):
                    return False
                if not isinstance(node, ir.Load):
                    continue
                if node.buffer in stored:
                    return False
                if node.buffer in places and forms.expand(node.index) != places[node.buffer]:
                    return False
        if isinstance(statement, ir.Store):
            stored.add(statement.buffer)
    return True


def _is_own(index: ir.AnyExpr, counter: str, forms: LinearForms) -> bool:
    """Whether an index has the counter added to what does not depend on it."""
    flat = flat_index(index)
    if not isinstance(flat, ir.Binary) or flat.op is not ir.BinOp.ADD or not forms.is_pure(index):
        return False
    sides = (flat.left, flat.right)
    if ir.Var(counter) not in sides:
        return False
    base = flat.left if flat.right == ir.Var(counter) else flat.right
    return all(node != ir.Var(counter) for node in walk_expr(base))


__all__ = ["USUAL", "TripCountCandidates", "UnrolledBody", "goes_on_early", "trip_count_candidates"]
