"""Chains of selects over constants as table lookups.

    select(i == 0, 65, select(i == 1, 66, ... 0))  ->  load of a constant array at min(i, n)

A table that a kernel writes as a tuple or as bytes arrives as such a chain: one comparison and one
select per entry. The array has the default as its last entry, and the index is clamped to it, so
nothing is tested. Vectors look up bytes by shuffles where the machine has them.

Legal for integer indices that the chain compares with 0, 1, 2, ... in order, and constant values.
Profitable for 16 entries and more: fewer selects are cheaper than a gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm.emit.memory.table_lookup import ENTRIES, MOST_ENTRIES, is_worth_it, rows_of
from vyre.backends.llvm.emit.values import Memory, Value
from vyre.backends.llvm.techniques import Technique
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.emit.expressions import LaneContext

MIN_ENTRIES = 16
_U32 = ir.DataType.U32
_INDEX = frozenset({_U32, ir.DataType.I32, ir.DataType.U16, ir.DataType.U8})
_BYTES = frozenset({ir.DataType.U8, ir.DataType.I8})
_ELEMENTS = _BYTES | {
    *(ir.DataType.U16, ir.DataType.I16, _U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64),
    *(ir.DataType.F32, ir.DataType.F64),
}


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """A chain of selects as a table."""

    index: ir.AnyExpr
    entries: tuple[ir.Lit, ...]
    default: ir.Lit
    """The value where the index is beyond the entries."""


def constant_table_of(expr: ir.Select) -> ConstantTable | None:
    """The table that a chain of selects stands for; None if it is none."""
    index: ir.AnyExpr | None = None
    entries: list[ir.Lit] = []
    rest: ir.AnyExpr = expr
    while isinstance(rest, ir.Select):
        match rest:
            case ir.Select(ir.Binary(ir.BinOp.EQ, tested, ir.Lit() as number), ir.Lit() as entry):
                pass
            case _:
                return None
        if number.dtype not in _INDEX or number.bits != len(entries):
            return None
        # Equal expressions need not be one object, and comparing deep ones is slow.
        if index is not None and tested is not index and tested != index:
            return None
        index = tested
        entries.append(entry)
        rest = rest.if_false
    if index is None or not isinstance(rest, ir.Lit) or len(entries) < MIN_ENTRIES:
        return None
    return ConstantTable(index, tuple(entries), rest) if rest.dtype in _ELEMENTS else None


def emit_constant_lookup(lanes: LaneContext, table: ConstantTable) -> Value:
    """The entry at the index of each lane."""
    kernel = lanes.kernel
    kernel.applies(Technique.CONSTANT_TABLES)
    count = len(table.entries)
    index = ir.Cast(table.index, _U32)
    limit = ir.Lit(_U32, count)
    element = table.default.dtype
    by_shuffles = element in _BYTES and count <= MOST_ENTRIES
    if by_shuffles and lanes.width and is_worth_it(kernel.host, lanes.width, count):
        at = lanes.value(index)
        if not at.is_uniform:
            entry = lanes.memory.look_up(_memory(kernel, table), at, count)
            inside = lanes.value(ir.Binary(ir.BinOp.LT, index, limit))
            return lanes.select(inside, entry, lanes.value(table.default))
    clamped = lanes.value(ir.Binary(ir.BinOp.MIN, index, limit))
    return lanes.memory.load(_memory(kernel, table), clamped, proven=True)


def _memory(kernel: Kernel, table: ConstantTable) -> Memory:
    """The constant array, which is emitted once; bytes fill whole registers of shuffles."""
    element = table.default.dtype
    bits = [entry.bits for entry in (*table.entries, table.default)]
    if element in _BYTES:
        bits += [table.default.bits] * (rows_of(len(bits)) * ENTRIES - len(bits))
    type_ = f"i{8 * (element.size_bytes or 1)}"
    array = f"[{len(bits)} x {type_}] [{', '.join(f'{type_} {each}' for each in bits)}]"
    known = kernel.constant_tables
    name = known.setdefault(array, f"@vyre.table.{len(known)}")
    kernel.w.globals[name] = f"{name} = internal constant {array}, align 64"
    decl = ir.BufferDecl.read(name.removeprefix("@"), 0, element).with_count(len(bits))
    return Memory(decl, name, name, str(len(bits)), shared=True)


__all__ = ["ConstantTable", "constant_table_of", "emit_constant_lookup"]
