"""Trip-count specialisation of loops over the members of structures.

    for c in 0..image.shape[2] { out[p * out.shape[2] + c] = … }
->
    if image.shape[2] == 3 & out.shape[2] == 3 {
        out[p * 3] = …  out[p * 3 + 1] = …  out[p * 3 + 2] = …
    } else { the original loop }

The stride of lanes equals the trip count, known at launch only. It is 3 or 4 more often than not.
With a literal, the loop is fully unrolled, and lanes load whole structures and shuffle them in
registers.

Legal when the trip count and the strides are uniform in the workgroup: one test selects the
version, in which the literal replaces every tested value. Nothing is speculated: where the test
holds, both versions compute the same.
Profitable when the loop accesses all members between lanes, as images do; regions of more than
`MAX_SPECIALISED_STATEMENTS` statements are not specialised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from vyre import ir
from vyre.backends.llvm import heuristics
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


@dataclass(frozen=True, slots=True)
class TripCountCandidates:
    """Loops over the members of structures."""

    forms: LinearForms
    loops: frozenset[str]
    """Their induction variables."""
    sizes: tuple[ir.AnyExpr, ...]
    """Expanded expressions that must equal the trip count; uniform along a row."""
    iterations: Mapping[str, range] = field(default_factory=dict[str, range])
    """Iterations of the loops with literal bounds."""


def trip_count_candidates(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
) -> TripCountCandidates | None:
    """Loops of a region over consecutive members; None if there are none."""
    statements = list(walk_stmts(body))
    if len(statements) > heuristics.MAX_SPECIALISED_STATEMENTS or not any(
        isinstance(s, ir.Loop) for s in statements
    ):
        return None
    fixed = leaves - {s.name for s in statements if isinstance(s, ir.Assign)}
    forms = LinearForms(program, body, outer, fixed, types)
    loops: set[str] = set()
    sizes: dict[ir.AnyExpr, None] = {}
    for loop in statements:
        if not isinstance(loop, ir.Loop) or loop.start != ir.Lit(ir.DataType.U32, 0):
            continue
        stop = forms.expand(loop.stop)
        if not is_distance(stop, forms, fixed) or breaks_or_continues(loop.body):
            continue
        strides = _distances(loop, forms, fixed)
        if strides:
            loops.add(loop.var)
            sizes.update(dict.fromkeys((stop, *strides)))
    return TripCountCandidates(forms, frozenset(loops), tuple(sizes)) if loops else None


def _distances(loop: ir.Loop, forms: LinearForms, leaves: frozenset[str]) -> list[ir.AnyExpr]:
    """Strides of lanes where a loop iterates over the elements in between.

    A row of a matrix has the same form, but is long: these are members of structures if the
    structures have several axes, or if the loop stores to all members.
    """
    strides: list[ir.AnyExpr] = []
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
                    strides.append(size)
                    likely = likely or _has_axes(position) or isinstance(statement, ir.Store)
                    break
    return strides if likely else []


def _structure(index: ir.AnyExpr, counter: str) -> ir.Binary | None:
    """Index of the first member of a structure; the counter is the member."""
    flat = flat_index(index)
    if isinstance(flat, ir.Binary) and flat.op is ir.BinOp.ADD:
        for base, member in ((flat.left, flat.right), (flat.right, flat.left)):
            if (
                member == ir.Var(counter)
                and isinstance(base, ir.Binary)
                and base.op is ir.BinOp.MUL
            ):
                return base
    return None


def _has_axes(position: ir.AnyExpr) -> bool:
    """True if a position is itself multi-dimensional."""
    return any(
        isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL for node in walk_expr(position)
    )


def breaks_or_continues(body: ir.Body) -> bool:
    """True if a body breaks or continues its loop."""
    for statement in body:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if not isinstance(statement, ir.Loop) and any(map(breaks_or_continues, bodies(statement))):
            return True
    return False


class UnrolledBody:
    """A body whose candidate loops are fully unrolled, for one trip count."""

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
        """Identities of rebuilt accesses, mapped to those of the originals."""
        self._assigned = {s.name for s in walk_stmts(body) if isinstance(s, ir.Assign)}
        self.body = self._body(body, {})

    def _body(self, body: ir.Body, names: dict[str, ir.AnyExpr]) -> ir.Body:
        return tuple(
            rewritten for statement in body for rewritten in self._statement(statement, names)
        )

    def _statement(
        self, statement: ir.AnyStmt, names: dict[str, ir.AnyExpr]
    ) -> Iterable[ir.AnyStmt]:
        if isinstance(statement, ir.Loop) and statement.var in self._channels.loops:
            return self._unrolled(statement, names)
        rewritten = map_exprs(statement, lambda child: self._expr(child, names))
        for key in ("name", "var"):
            new = names.get(getattr(rewritten, key, ""))
            if isinstance(rewritten, (ir.Let, ir.Assign, ir.Loop)) and isinstance(new, ir.Var):
                rewritten = rebuilt(rewritten, {key: new.name})
        if isinstance(rewritten, ir.Store) and rewritten is not statement:
            self.remade[id(rewritten)] = id(statement)
        if (
            isinstance(rewritten, ir.Let)
            and isinstance(statement, ir.Let)
            and isinstance(rewritten.value, ir.Lit)
        ):
            self._literal(statement.name, rewritten.value, names)
        return (map_bodies(rewritten, lambda inner: self._body(inner, names)),)

    def _literal(self, name: str, value: ir.Lit, names: dict[str, ir.AnyExpr]) -> None:
        """Propagate a literal to the uses of its name."""
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
        rewritten = map_exprs(expr, lambda child: self._expr(child, names))
        if rewritten is not expr and isinstance(rewritten, (ir.Load, ir.Atomic)):
            self.remade[id(rewritten)] = id(expr)
        if rewritten is expr:
            return expr
        return folded(
            lawful(rewritten, expr, {}) if isinstance(rewritten, ir.Binary) else rewritten
        )

    def _unrolled(self, loop: ir.Loop, names: dict[str, ir.AnyExpr]) -> list[ir.AnyStmt]:
        known = self._channels.iterations.get(loop.var)
        iterations: list[list[ir.AnyStmt]] = []
        for number in range(self._number) if known is None else known:
            counter = ir.Lit(self.types[loop.var], number % (1 << 32))
            own: dict[str, ir.AnyExpr] = {**names, loop.var: counter}
            for statement in walk_stmts(loop.body):
                if isinstance(statement, (ir.Let, ir.Loop)):
                    name = statement.name if isinstance(statement, ir.Let) else statement.var
                    own[name] = ir.Var(self._fresh(name, self.types[name]))
            iterations.append(without_blocks(self._body(loop.body, own)))
        if known is None and _is_separable(loop, self._channels.forms):
            return self._stores_last(loop, iterations)
        return [statement for iteration in iterations for statement in iteration]

    def _stores_last(self, loop: ir.Loop, iterations: list[list[ir.AnyStmt]]) -> list[ir.AnyStmt]:
        """Sink the stores of all iterations below their computations, to combine them."""
        rewritten: list[ir.AnyStmt] = []
        stores: list[list[ir.Store]] = []
        written = without_blocks(loop.body)
        for iteration in iterations:
            stores.append([])
            for statement, old in zip(iteration, written, strict=True):
                if not isinstance(statement, ir.Store) or not isinstance(old, ir.Store):
                    rewritten.append(statement)
                    continue
                dtype = self._channels.forms.type_of(old.value)
                name = self._fresh(f"{loop.var}.part", dtype)
                rewritten.append(ir.Let(name, statement.value))
                store = rebuilt(statement, {"value": ir.Var(name)})
                self.remade[id(store)] = self.remade.get(id(statement), id(statement))
                stores[-1].append(store)
        rewritten += [store for column in zip(*stores, strict=True) for store in column]
        return rewritten

    def _fresh(self, hint: str, dtype: ir.DataType) -> str:
        number = 1
        while f"{hint}.{number}" in self.types:
            number += 1
        self.types[f"{hint}.{number}"] = dtype
        return f"{hint}.{number}"


def _is_separable(loop: ir.Loop, forms: LinearForms) -> bool:
    """True if no iteration loads an element that any iteration has stored.

    Each iteration computes first and stores at its end. It loads from a stored buffer only at the
    index that it stores to: the counter plus an invariant, so that different iterations access
    different elements.
    """
    body = without_blocks(loop.body)
    stores = [s for s in body if isinstance(s, ir.Store)]
    first = len(body) - len(stores)
    if not stores or not all(isinstance(s, (ir.Let, ir.Assign)) for s in body[:first]):
        return False
    buffers = [store.buffer for store in stores]
    if len(set(buffers)) < len(buffers) or not forms.private.isdisjoint(buffers):
        return False
    indices = {store.buffer: forms.expand(store.index) for store in stores}
    if not all(_is_own(index, loop.var, forms) for index in indices.values()):
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
                if node.buffer in indices and forms.expand(node.index) != indices[node.buffer]:
                    return False
        if isinstance(statement, ir.Store):
            stored.add(statement.buffer)
    return True


def _is_own(index: ir.AnyExpr, counter: str, forms: LinearForms) -> bool:
    """True if an index is the counter plus an invariant."""
    flat = flat_index(index)
    if not isinstance(flat, ir.Binary) or flat.op is not ir.BinOp.ADD or not forms.is_pure(index):
        return False
    sides = (flat.left, flat.right)
    if ir.Var(counter) not in sides:
        return False
    base = flat.left if flat.right == ir.Var(counter) else flat.right
    return all(node != ir.Var(counter) for node in walk_expr(base))


__all__ = [
    "TripCountCandidates",
    "UnrolledBody",
    "breaks_or_continues",
    "trip_count_candidates",
]
