"""Store clustering: stores to one structure become adjacent.

    b[3 * i] = x; let v = e; b[3 * i + 1] = v  ->  let v = e; b[3 * i] = x; b[3 * i + 1] = v

Adjacent stores to all members of a structure are emitted as one interleaved access (a shuffle and
contiguous stores); with other statements in between, each member is stored lane by lane.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.affine import AffineForms
from vyre.analysis.effects import NO_EFFECTS, Effects, own_effects
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.pass_context import CpuContext, CpuPass
from vyre.ir.buffer import NO_ELEMENT
from vyre.ir.walk import map_bodies, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import PassAnalysis, PassContext, vyre_pass
from vyre.record import dataclass


@vyre_pass(name="cluster_stores", phase=PassPhase.LOWERING, family=CostModelFamily.MEMORY)
class ClusterStores(CpuPass):
    """Moves stores down to the next store to the same structure.

    Legal when what is moved past binds variables, or stores to other arrays, and neither reads the
    array nor has another effect. Profitable when the indices differ by a constant, less than the
    length of a structure that is accessed as a whole or in pieces.
    """

    def analyze(self, program: ir.Program, context: PassContext) -> PassAnalysis:
        """Skip programs without two stores to one array."""
        stores = [s.buffer for s in walk_stmts(program.entry) if isinstance(s, ir.Store)]
        if len(set(stores)) < len(stores):
            return PassAnalysis.RUN
        return PassAnalysis.skip("no array is stored to twice")

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with such stores moved."""
        entry = _Clusters(program).body(program.entry)
        return program if entry is program.entry else program.with_rewritten_entry(entry)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A statement, its position in the program, and what it may do by itself."""

    statement: ir.AnyStmt
    position: int
    effects: Effects


class _Clusters:
    def __init__(self, program: ir.Program) -> None:
        self._forms = AffineForms.of(program)
        self._next = 0

    def body(self, body: ir.Body) -> ir.Body:
        """A body with its stores moved, and the bodies in it; positions are counted on the way."""
        made: list[_Placed] = []
        for statement in body:
            position, self._next = self._next, self._next + 1
            inner = map_bodies(statement, self.body)
            placed = _Placed(inner, position, own_effects(inner))
            if isinstance(inner, ir.Store):
                self._move_before(made, placed)
            made.append(placed)
        same = len(made) == len(body) and all(
            one.statement is two for one, two in zip(made, body, strict=True)
        )
        return body if same else tuple(each.statement for each in made)

    def _move_before(self, made: list[_Placed], store: _Placed) -> None:
        """Move the stores to the same structure, which are together by now, to the end."""
        assert isinstance(store.statement, ir.Store)
        end = len(made)
        between = NO_EFFECTS
        while end and not _stores_to(made[end - 1], store.statement.buffer):
            end -= 1
            if not isinstance(made[end].statement, (ir.Let, ir.Store)):
                return
            between |= made[end].effects
        start = end
        while start and self._is_neighbour(made[start - 1], store):
            start -= 1
        stores = made[start:end]
        if not stores or end == len(made):
            return
        if all(_may_pass(each.effects, between) for each in stores):
            made[start:] = [*made[end:], *stores]

    def _is_neighbour(self, one: _Placed, other: _Placed) -> bool:
        """True if both store to one structure, as far as constant distances tell."""
        first, second = one.statement, other.statement
        if not (isinstance(first, ir.Store) and isinstance(second, ir.Store)):
            return False
        if first.buffer != second.buffer:
            return False
        distance = self._forms.difference(
            _unguarded(first.index), one.position, _unguarded(second.index), other.position
        )
        return distance is not None and 0 < abs(distance) < heuristics.MAX_STRUCT_STRIDE


def _stores_to(placed: _Placed, buffer: str) -> bool:
    return isinstance(placed.statement, ir.Store) and placed.statement.buffer == buffer


def _may_pass(store: Effects, between: Effects) -> bool:
    """True if a store may be executed after what comes between it and the next one."""
    if between.atomics or between.crosses_lanes or store.atomics or store.crosses_lanes:
        return False
    return not (store.writes & between.reads) and not (store.reads & between.writes)


def _unguarded(index: ir.AnyExpr) -> ir.AnyExpr:
    """The index without the conditions of an access to an array of several axes."""
    match index:
        case ir.Select(_, inside, ir.Lit(bits=bits)) if bits == NO_ELEMENT:
            return inside
        case _:
            return index
