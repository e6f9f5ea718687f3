"""Vector pre-test of a guard; lanes that pass run as scalars.

In `if levels[gid.x] == level[0] { … }` the condition loads contiguous elements, and the guarded
statements gather. The condition is evaluated for a vector of lanes, and those for which it may hold
run one after another, each testing it again.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm.analysis.cost_model import CostModel
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.ir.walk import rewrite_expr, walk_expr, without_blocks
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct, conjunction, conjuncts_of
from vyre.semantics.atomics import is_atomic_load


@dataclass(frozen=True, slots=True)
class LaneFilter:
    """The condition of the pre-test, and what it uses."""

    lets: tuple[ir.Let, ...]
    cond: ir.AnyExpr
    """Lanes for which this is false have no side effects."""
    inside: frozenset[int]
    """Identities of loads that replace in-bounds atomics, in bounds themselves."""


def lane_filter_of(peeling: RowPartition, census: CostModel) -> LaneFilter | None:
    """The filter of a region whose only effect is guarded; None if there is none."""
    before: list[ir.Let] = []
    guard = _only_effect(peeling, peeling.simplified, before)
    if guard is None or bool(guard.then) == bool(guard.otherwise):
        return None
    made = _Maker(peeling, census, {let.name: let for let in before})
    is_integer = peeling.forms.is_integer
    parts = conjuncts_of(guard.cond, negated=not guard.then, is_integer=is_integer)
    held = [part for part in parts if made.is_cheap(part.condition())]
    if not held or not made.looks_apart:
        return None
    cond = made.plain(conjunction(held))
    lets = tuple(
        ir.Let(let.name, made.plain(let.value)) for let in before if let.name in made.wanted(held)
    )
    return LaneFilter(lets, cond, frozenset(made.inside))


def _only_effect(peeling: RowPartition, body: ir.Body, before: list[ir.Let]) -> ir.If | None:
    """The only statement with side effects; `before` receives the bindings before it."""
    found: ir.If | None = None
    for statement in without_blocks(body):
        if isinstance(statement, ir.Let) and peeling.is_quiet(statement):
            if found is None:
                before.append(statement)
        elif isinstance(statement, ir.Let) and found is None and is_atomic_load(statement.value):
            before.append(statement)
        elif isinstance(statement, ir.If) and found is None:
            found = statement
        else:
            return None
    return found


class _Maker:
    def __init__(self, peeling: RowPartition, census: CostModel, lets: dict[str, ir.Let]) -> None:
        self._peeling = peeling
        self._census = census
        self._lets = lets
        self.inside: set[int] = set()
        self.looks_apart = False
        """True if a load of the condition has stride 1 across lanes."""

    def is_cheap(self, expr: ir.AnyExpr) -> bool:
        """True if the expression vectorises with uniform or contiguous loads."""
        return all(self._is_cheap_node(node) for node in walk_expr(expr))

    def _is_cheap_node(self, node: ir.AnyExpr) -> bool:
        match node:
            case ir.Var(name):
                # The pre-test has the bindings of this region, not values spilled across a barrier.
                let = self._lets.get(name)
                return let is not None and self.is_cheap(let.value)
            case ir.Load(buffer, index):
                return self._is_near(buffer, index)
            case ir.Atomic(_, buffer, index):
                return is_atomic_load(node) and self._is_near(buffer, index)
            case ir.Ballot() | ir.Shuffle() | ir.SubgroupReduce():
                return False
            case ir.Binary(op, _, _) | ir.Unary(op, _):
                return not op.row.approximate
            case _:
                return True

    def _is_near(self, buffer: str, index: ir.AnyExpr) -> bool:
        step = self._census.step(index)
        element = self._census.element(buffer)
        if step not in (0, 1) or buffer in self._peeling.forms.private:
            return False
        if element.is_vector or element in STORAGE_ONLY:
            return False
        self.looks_apart = self.looks_apart or step == 1
        return True

    def plain(self, expr: ir.AnyExpr) -> ir.AnyExpr:
        """The expression with loads in place of atomics."""

        def one(node: ir.AnyExpr) -> ir.AnyExpr:
            if not isinstance(node, ir.Atomic):
                return node
            made = ir.Load(node.buffer, node.index)
            if id(node) in self._peeling.inside or id(node) in self._peeling.proven:
                self.inside.add(id(made))
            return made

        return rewrite_expr(expr, one)

    def wanted(self, held: list[Conjunct]) -> set[str]:
        """Names that the conjuncts use, directly or through bindings."""
        found: set[str] = set()
        left = [part.condition() for part in held]
        while left:
            for node in walk_expr(left.pop()):
                if isinstance(node, ir.Var) and node.name in self._lets and node.name not in found:
                    found.add(node.name)
                    left.append(self._lets[node.name].value)
        return found
