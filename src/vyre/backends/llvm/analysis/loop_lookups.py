"""Lookups of a loop's iterations in small tables of bytes.

    for k in 0..32: if places[text[i + k]] & 1 != 0 { found = found | 1 << k }

Entries of a table are anywhere, so iterations would gather them; but where registers hold the
whole table, shuffles look up a vector of iterations (see `emit.memory.table_lookup`). An index of
few bits never leaves such a table, and entries that the buffer lacks are zero.
"""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.backends.llvm.emit.memory.table_lookup import BYTES, MOST_ENTRIES, is_worth_it
from vyre.backends.llvm.host import Host
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Lookup:
    """A load from a table of bytes, and how many entries it may reach."""

    load: ir.Load
    entries: int


def lookup_of(load: ir.Load, index: ir.AnyExpr, env: ir.TypeEnv) -> Lookup | None:
    """The lookup that a load is; None if it is none."""
    entries = _entries_of(load, index, env)
    return Lookup(load, entries) if entries else None


def _entries_of(load: ir.Load, index: ir.AnyExpr, env: ir.TypeEnv) -> int:
    decl = env.buffers[load.buffer]
    if decl.is_writable or decl.is_local or decl.element not in BYTES:
        return 0
    count = _values_of(index, env)
    return count if count <= MOST_ENTRIES else 0


def _values_of(index: ir.AnyExpr, env: ir.TypeEnv) -> int:
    """One more than an index can be, as far as its form shows."""
    match index:
        case ir.Lit(_, bits):
            return int(bits) + 1
        case ir.Cast(value, dtype) if dtype.is_integer and not ir.type_of(value, env).is_float:
            bits = dtype.bits or 0
            return min(_values_of(value, env), 1 << bits) if bits else MOST_ENTRIES + 1
        case ir.Binary(ir.BinOp.AND, left, right):
            return min(_values_of(left, env), _values_of(right, env))
        case _:
            return 256 if ir.type_of(index, env) is ir.DataType.U8 else MOST_ENTRIES + 1


def are_in_registers(host: Host, lookups: Iterable[Lookup], lanes: int) -> bool:
    """True if shuffles beat loads for all tables, at a number of iterations per vector."""
    return all(is_worth_it(host, lanes, each.entries) for each in lookups)


__all__ = ["Lookup", "are_in_registers", "lookup_of"]
