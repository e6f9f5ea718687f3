"""Stream compaction: iterations that append what passes a test.

    for k in 0..n: if p(k) { out[m] = v(k); m = m + 1 }

The elements that pass are packed at the front of a vector register, stored under a mask of as many
elements, and counted; so their order stays. The place may be `base + m`, with a base that no
iteration changes: so each invocation appends to a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from vyre import ir
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY
from vyre.backends.llvm.host import Host
from vyre.ir.walk import variables_of, walk_expr
from vyre.record import dataclass

_WIDE = 4
"""Least bytes of elements that AVX-512F packs; for fewer there is VBMI2."""
_OF_BASES = frozenset({ir.BinOp.ADD, ir.BinOp.SUB, ir.BinOp.MUL, ir.BinOp.SHL})
_MOST_RATIO = 4
"""Of sizes of elements: as many of the narrower ones as of the wider ones fill 16 bytes or more."""


Buffers = Mapping[str, ir.BufferDecl]


@dataclass(frozen=True, slots=True)
class Append:
    """Stores at a counter under a condition, and the step of the counter."""

    cond: ir.AnyExpr
    stores: tuple[ir.Store, ...]
    counter: str

    @property
    def base_variables(self) -> frozenset[str]:
        """Variables that the places are computed of, besides the counter."""
        read = (variables_of(store.index) for store in self.stores)
        return frozenset[str]().union(*read) - {self.counter}


def append_of(statement: ir.AnyStmt, env: ir.TypeEnv) -> Append | None:
    """Match a conditional append; None for other statements."""
    if not isinstance(statement, ir.If) or statement.otherwise or len(statement.then) < 2:
        return None
    *stores, step = statement.then
    match step:
        case ir.Assign(name, ir.Binary(ir.BinOp.ADD, left, ir.Lit(ir.DataType.U32, 1))) if (
            left == ir.Var(name)
        ):
            pass
        case _:
            return None
    found: list[ir.Store] = []
    for store in stores:
        if not isinstance(store, ir.Store) or not _is_place(store.index, name):
            return None
        if not _is_compressible(env.buffers[store.buffer]):
            return None
        found.append(store)
    if len({store.buffer for store in found}) < len(found):
        return None
    return Append(statement.cond, tuple(found), name)


def _is_place(index: ir.AnyExpr, counter: str) -> bool:
    """True if an index is the counter, maybe and a base that is computed of other variables."""
    match index:
        case ir.Var(name):
            return name == counter
        case ir.Binary(ir.BinOp.ADD, ir.Var(name), base) if name == counter:
            return _is_base(base, counter)
        case ir.Binary(ir.BinOp.ADD, base, ir.Var(name)) if name == counter:
            return _is_base(base, counter)
        case _:
            return False


def _is_base(expr: ir.AnyExpr, counter: str) -> bool:
    return all(
        isinstance(node, (ir.Lit, ir.Builtin, ir.BufLen))
        or (isinstance(node, ir.Var) and node.name != counter)
        or (isinstance(node, ir.Binary) and node.op in _OF_BASES)
        for node in walk_expr(expr)
    )


def _is_compressible(decl: ir.BufferDecl) -> bool:
    element = decl.element
    plain = not decl.is_local and not element.is_vector and element not in STORAGE_ONLY
    narrow = (element.size_bytes or 0) < _WIDE
    return plain and (element.is_integer if narrow else element.is_integer or element.is_float)


def are_independent(
    appends: Sequence[Append], used: AbstractSet[str], results: AbstractSet[str]
) -> bool:
    """True if appends have counters and buffers of their own.

    `used` are the buffers that the loop accesses otherwise, and `results` its other recurrences.
    """
    buffers = [store.buffer for append in appends for store in append.stores]
    counters = [append.counter for append in appends]
    alone = len(set(buffers)) == len(buffers) and len(set(counters)) == len(counters)
    return alone and used.isdisjoint(buffers) and results.isdisjoint(counters)


def can_append(host: Host, appends: Iterable[Append], buffers: Buffers) -> bool:
    """True if the machine packs the elements of some appends within a register."""
    stores = [store for each in appends for store in each.stores]
    sizes = [buffers[store.buffer].element.size_bytes or 1 for store in stores]
    if not sizes:
        return True
    if not host.has_mask_registers or max(sizes) // min(sizes) > _MOST_RATIO:
        return False
    return min(sizes) >= _WIDE or (host.masks_bytes and "avx512vbmi2" in host.enabled)


__all__ = ["Append", "append_of", "are_independent", "can_append"]
