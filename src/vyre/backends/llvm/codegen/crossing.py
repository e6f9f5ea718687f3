"""Variables that live across barriers: recomputed when cheap and pure, else kept per lane."""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.codegen.barriers import Piece, Stretch, Together
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.value import Form, Slot
from vyre.driver.grid_sync.lives import recomputable, uses_of, variable_types
from vyre.ir import AnyExpr, Body, DataType, Let
from vyre.ir.walk import expr_children


class Crossing:
    """What becomes of the variables that several pieces of work share."""

    def __init__(self, kernel: Kernel, body: Body, work: tuple[Piece, ...]) -> None:
        program = kernel.program
        self.slots: dict[str, Slot] = {}
        self.recomputed: dict[str, AnyExpr] = {}
        self.private_bases: dict[str, str] = {}
        self._uses: dict[int, frozenset[str]] = {}
        users: dict[str, int] = {}
        declared: dict[str, None] = {}
        for stretch, names, lets in _all_uses(work):
            if stretch is not None:
                self._uses[id(stretch)] = names
            for name in names:
                users[name] = users.get(name, 0) + 1
            declared.update(dict.fromkeys(lets))
        shared = [name for name in declared if users.get(name, 0) > 1]
        if not shared:
            self.names: frozenset[str] = frozenset()
            return
        types = variable_types(program)
        cheap = recomputable(program)
        for name in shared:
            if name in cheap:
                self._recompute(name, cheap)
            else:
                self.slots[name] = _slot(kernel, types[name])
        self.names = frozenset(self.slots)
        del body

    def _recompute(self, name: str, cheap: Mapping[str, AnyExpr]) -> None:
        for inner in sorted(uses_of((), [cheap[name]]).reads):
            if inner not in self.recomputed:
                self._recompute(inner, cheap)
        self.recomputed[name] = cheap[name]

    def is_used(self, name: str, stretch: Stretch) -> bool:
        """Whether a stretch of work reads a variable, or one that is recomputed from it."""
        names = self._uses.get(id(stretch), frozenset())
        if name in names:
            return True
        return any(
            other in names and name in uses_of((), [value]).reads
            for other, value in self.recomputed.items()
            if other != name
        )


def _all_uses(
    work: tuple[Piece, ...],
) -> list[tuple[Stretch | None, frozenset[str], list[str]]]:
    found: list[tuple[Stretch | None, frozenset[str], list[str]]] = []
    for piece in work:
        if isinstance(piece, Stretch):
            uses = uses_of(piece.body)
            lets = [s.name for s in piece.body if isinstance(s, Let)]
            found.append((piece, uses.reads | uses.writes, lets))
        else:
            reads = uses_of((), expr_children(piece.statement)).reads
            found.append((None, reads, []))
            for inner in piece.inner:
                found.extend(_all_uses(inner))
    return found


def _slot(kernel: Kernel, dtype: DataType) -> Slot:
    component = dtype.element if dtype.is_vector and dtype.element is not None else dtype
    count = dtype.lanes if dtype.is_vector else 1
    nbytes = (component.size_bytes or 1) * kernel.invocations
    pointers = tuple(kernel.take_scratch(nbytes) for _ in range(count))
    return Slot(dtype, pointers, Form.VARYING, per_lane=True)


__all__ = ["Crossing", "Together"]
