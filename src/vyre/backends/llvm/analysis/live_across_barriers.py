"""Variables live across barriers: rematerialised or spilled per lane.

A variable is live across barriers if more than one parallel region uses it. It is rematerialised in
every region if its value is pure and has at most `CHEAP_NODES` nodes; otherwise it has a slot per
lane in the workgroup's scratch memory. Uses are counted per region, not per path, so some variables
are spilled that need not be.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from vyre import ir
from vyre.analysis.rematerialisation import CHEAP_NODES
from vyre.analysis.used_names import uses_of
from vyre.backends.llvm.analysis.parallel_regions import Once, ParallelRegion, Piece
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.values import LaneShape, Slot
from vyre.ir.walk import assigned_names, declared_names, expr_children, walk_expr, walk_stmts


class LiveAcrossBarriers:
    """Slots and rematerialised values of variables that several regions use."""

    def __init__(
        self,
        kernel: Kernel,
        work: tuple[Piece, ...],
        shared: frozenset[str],
        constant: frozenset[str],
    ) -> None:
        """`shared` are workgroup-uniform variables, `constant` those never reassigned."""
        self.slots: dict[str, Slot] = {}
        self.recomputed: dict[str, ir.AnyExpr] = {}
        self._uses: dict[ir.Body, frozenset[str]] = {}
        users: dict[str, int] = {}
        declared: dict[str, None] = {}
        for region, names, lets in _all_uses(work):
            if region is not None:
                self._uses[region.body] = names
            for name in names:
                users[name] = users.get(name, 0) + 1
            declared.update(dict.fromkeys(lets))
        crossing = [name for name in declared if users.get(name, 0) > 1 and name not in shared]
        cheap = _recomputable(kernel, constant) if crossing else {}
        for name in crossing:
            if name in cheap:
                self._recompute(name, cheap)
            else:
                self.slots[name] = _slot(kernel, kernel.types[name])
        self.names = frozenset(self.slots)
        self._order = {
            name: position for position, name in enumerate((*self.slots, *self.recomputed))
        }

    def _recompute(self, name: str, cheap: Mapping[str, ir.AnyExpr]) -> None:
        for inner in sorted(uses_of((), [cheap[name]]).reads):
            if inner not in self.recomputed and inner in cheap:
                self._recompute(inner, cheap)
        self.recomputed[name] = cheap[name]

    def used(self, region: ParallelRegion) -> dict[str, Slot]:
        """Slots of the spilled variables that a region uses."""
        names = self._uses.get(region.body, frozenset[str]())
        kept = [name for name in names if name in self.slots]
        return {name: self.slots[name] for name in sorted(kept, key=self._order.__getitem__)}

    def all_used(self, region: ParallelRegion) -> frozenset[str]:
        """Variables live across barriers that a region uses, in either way."""
        names = self._uses.get(region.body, frozenset[str]())
        crossing = [name for name in names if name in self._order]
        return frozenset((*crossing, *self.needed(region)))

    def needed(self, region: ParallelRegion) -> dict[str, ir.AnyExpr]:
        """Values that a region rematerialises, in order of their definitions."""
        names = set(self._uses.get(region.body, frozenset[str]()))
        names -= declared_names(region.body)
        needed: set[str] = set()
        worklist = [name for name in names if name in self.recomputed]
        while worklist:
            name = worklist.pop()
            if name not in needed:
                needed.add(name)
                reads = uses_of((), [self.recomputed[name]]).reads
                worklist += [operand for operand in reads if operand in self.recomputed]
        return {name: self.recomputed[name] for name in sorted(needed, key=self._order.__getitem__)}


def _recomputable(kernel: Kernel, constant: frozenset[str]) -> dict[str, ir.AnyExpr]:
    """Variables whose values are pure and cheap, given the workgroup's constants."""
    body = kernel.program.entry
    assigned = assigned_names(body)
    cheap: dict[str, ir.AnyExpr] = {}
    for statement in walk_stmts(body):
        if isinstance(statement, ir.Let) and statement.name not in assigned:
            nodes = list(walk_expr(statement.value))
            if len(nodes) <= CHEAP_NODES and all(_is_pure(n, cheap, constant) for n in nodes):
                cheap[statement.name] = statement.value
    return cheap


def _is_pure(node: ir.AnyExpr, pure: Container[str], constant: Container[str]) -> bool:
    if isinstance(node, ir.Var):
        return node.name in pure or node.name in constant
    return isinstance(
        node, (ir.Lit, ir.Builtin, ir.BufLen, ir.Unary, ir.Binary, ir.Cast, ir.Bitcast, ir.Select)
    )


def _all_uses(
    work: tuple[Piece, ...],
) -> list[tuple[ParallelRegion | None, frozenset[str], list[str]]]:
    uses_by_piece: list[tuple[ParallelRegion | None, frozenset[str], list[str]]] = []
    for piece in work:
        if isinstance(piece, ParallelRegion):
            uses = uses_of(piece.body)
            lets = [s.name for s in piece.body if isinstance(s, ir.Let)]
            uses_by_piece.append((piece, uses.reads | uses.writes, lets))
        elif isinstance(piece, Once):
            uses_by_piece.append((None, uses_of(piece.body).reads, []))
        else:
            reads = uses_of((), expr_children(piece.statement)).reads
            uses_by_piece.append((None, reads, []))
            for inner in piece.inner:
                uses_by_piece.extend(_all_uses(inner))
    return uses_by_piece


def _slot(kernel: Kernel, dtype: ir.DataType) -> Slot:
    component = dtype.element if dtype.is_vector and dtype.element is not None else dtype
    count = dtype.lanes if dtype.is_vector else 1
    nbytes = (component.size_bytes or 1) * kernel.invocations
    pointers = tuple(kernel.take_scratch(nbytes) for _ in range(count))
    return Slot(dtype, pointers, LaneShape.VARYING, per_lane=True)
