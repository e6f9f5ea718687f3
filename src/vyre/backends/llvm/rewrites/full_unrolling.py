"""Full unrolling: literals in place of induction variables.

    for c in 0..3 { let x = a[i * n + c]; out[i * n + c] = x }      n being 3
->
    let x.1 = a[i * 3]  let x.2 = a[i * 3 + 1]  let x.3 = a[i * 3 + 2]
    out[i * 3] = x.1  out[i * 3 + 1] = x.2  out[i * 3 + 2] = x.3

Legal when the loops have no break or continue of their own, and every value in `sizes` equals the
trip count where the unrolled body runs. Stores are sunk below the computations of all iterations if
no iteration loads an element that any iteration stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms, flat_index
from vyre.backends.llvm.analysis.index_folding import folded
from vyre.backends.llvm.rewrites.rebuilt_accesses import RebuiltAccesses
from vyre.ir.names import numbered_name
from vyre.ir.walk import (
    assigned_names,
    map_bodies,
    map_exprs,
    rebuilt,
    walk_expr,
    walk_own_exprs,
    walk_stmts,
    without_blocks,
)
from vyre.record import dataclass
from vyre.rewrite.literal_legality import lawful


@dataclass(frozen=True, slots=True)
class UnrollPlan:
    """Loops to unroll, and the values that equal their trip count."""

    forms: LinearForms
    loops: frozenset[str]
    """Their induction variables."""
    sizes: tuple[ir.AnyExpr, ...]
    """Expanded expressions that equal the trip count; uniform."""
    iterations: Mapping[str, range] = field(default_factory=dict[str, range])
    """Iterations of the loops with literal bounds."""


class UnrolledBody:
    """A body whose planned loops are fully unrolled, for one trip count."""

    def __init__(
        self,
        body: ir.Body,
        plan: UnrollPlan,
        number: int,
        types: Mapping[str, ir.DataType],
    ) -> None:
        self._plan = plan
        self._number = number
        self.types = dict(types)
        self.rebuilt = RebuiltAccesses()
        self._assigned = assigned_names(body)
        self.body = self._body(body, {})

    def _body(self, body: ir.Body, names: dict[str, ir.AnyExpr]) -> ir.Body:
        return tuple(
            rewritten for statement in body for rewritten in self._statement(statement, names)
        )

    def _statement(
        self, statement: ir.AnyStmt, names: dict[str, ir.AnyExpr]
    ) -> Iterable[ir.AnyStmt]:
        if isinstance(statement, ir.Loop) and statement.var in self._plan.loops:
            return self._unrolled(statement, names)
        rewritten = map_exprs(statement, lambda child: self._expr(child, names))
        for key in ("name", "var"):
            new = names.get(getattr(rewritten, key, ""))
            if isinstance(rewritten, (ir.Let, ir.Assign, ir.Loop)) and isinstance(new, ir.Var):
                rewritten = rebuilt(rewritten, {key: new.name})
        if isinstance(rewritten, ir.Store) and rewritten is not statement:
            self.rebuilt.add(rewritten, statement)
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
        sizes = self._plan.sizes
        if sizes and isinstance(expr, (ir.Load, ir.Var)) and self._plan.forms.expand(expr) in sizes:
            return ir.Lit(ir.DataType.U32, self._number)
        if isinstance(expr, ir.Var):
            return names.get(expr.name, expr)
        if expr.depth <= 1:
            return expr
        rewritten = map_exprs(expr, lambda child: self._expr(child, names))
        if rewritten is not expr and isinstance(rewritten, (ir.Load, ir.Atomic)):
            self.rebuilt.add(rewritten, expr)
        if rewritten is expr:
            return expr
        return folded(
            lawful(rewritten, expr, {}) if isinstance(rewritten, ir.Binary) else rewritten
        )

    def _unrolled(self, loop: ir.Loop, names: dict[str, ir.AnyExpr]) -> list[ir.AnyStmt]:
        known = self._plan.iterations.get(loop.var)
        iterations: list[list[ir.AnyStmt]] = []
        for number in range(self._number) if known is None else known:
            counter = ir.Lit(self.types[loop.var], number % (1 << 32))
            own: dict[str, ir.AnyExpr] = {**names, loop.var: counter}
            for statement in walk_stmts(loop.body):
                if isinstance(statement, (ir.Let, ir.Loop)):
                    name = statement.name if isinstance(statement, ir.Let) else statement.var
                    own[name] = ir.Var(self._fresh(name, self.types[name]))
            iterations.append(without_blocks(self._body(loop.body, own)))
        if known is None and _is_separable(loop, self._plan.forms):
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
                dtype = self._plan.forms.type_of(old.value)
                name = self._fresh(f"{loop.var}.part", dtype)
                rewritten.append(ir.Let(name, statement.value))
                store = rebuilt(statement, {"value": ir.Var(name)})
                self.rebuilt.add(store, statement)
                stores[-1].append(store)
        rewritten += [store for column in zip(*stores, strict=True) for store in column]
        return rewritten

    def _fresh(self, hint: str, dtype: ir.DataType) -> str:
        name = numbered_name(hint, self.types, ".", first=1)
        self.types[name] = dtype
        return name


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
        for node in walk_own_exprs(statement):
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


__all__ = ["UnrollPlan", "UnrolledBody"]
