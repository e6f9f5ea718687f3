"""Lookups of a loop's iterations in small tables of bytes.

    for k in 0..32: if places[text[i + k]] & 1 != 0 { found = found | 1 << k }

Entries of a table are anywhere, so iterations would gather them; but where registers hold the
whole table, shuffles look up a vector of iterations (see `emit.memory.table_lookup`). An index of
few bits never leaves such a table, and entries that the buffer lacks are zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.emit.memory.table_lookup import BYTES, MOST_ENTRIES, is_worth_it
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.techniques import Technique

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel


def entries_of(load: ir.Load, index: ir.AnyExpr, env: ir.TypeEnv) -> int:
    """Entries of the table of bytes that a load looks up; 0 if it is none."""
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


def are_in_registers(host: Host, lookups: Mapping[int, int], lanes: int) -> bool:
    """True if shuffles beat loads for all tables, by their entries, with `lanes` iterations."""
    return all(is_worth_it(host, lanes, entries) for entries in lookups.values())


def can_look_up(kernel: Kernel, lookups: Mapping[int, int], lanes: int) -> bool:
    """True if a loop of a kernel may look up its tables by shuffles."""
    if not lookups:
        return True
    allowed = kernel.allows(Technique.TABLE_LOOKUP)
    return allowed and are_in_registers(kernel.host, lookups, lanes)


__all__ = ["are_in_registers", "can_look_up", "entries_of"]
