"""Stream compaction: iterations that append what passes a test.

    for k in 0..n: if p(k) { out[m] = v(k); m = m + 1 }

The elements that pass are packed at the front of a vector register, stored under a mask of as many
elements, and counted; so their order stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from vyre import ir
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY
from vyre.backends.llvm.host import Host
from vyre.record import dataclass

_WIDE = 4
"""Least bytes of elements that AVX-512F packs; for fewer there is VBMI2."""
_MOST_RATIO = 4
"""Of sizes of elements: as many of the narrower ones as of the wider ones fill 16 bytes or more."""


Buffers = Mapping[str, ir.BufferDecl]


@dataclass(frozen=True, slots=True)
class Append:
    """Stores at a counter under a condition, and the step of the counter."""

    cond: ir.AnyExpr
    stores: tuple[ir.Store, ...]
    counter: str


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
        if not isinstance(store, ir.Store) or store.index != ir.Var(name):
            return None
        if not _is_compressible(env.buffers[store.buffer]):
            return None
        found.append(store)
    if len({store.buffer for store in found}) < len(found):
        return None
    return Append(statement.cond, tuple(found), name)


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
