"""Table lookup by byte shuffles, for small tables of bytes.

A vector register holds sixteen entries, and one shuffle looks up all lanes in them. The bits of
the index above the lowest four select between the results: registers hold the differences (xor) of
parts of the table, which are added (without carry) where a bit is set. Entries that the buffer
lacks are zero, which is what a load out of bounds gives, so nothing is tested. The upper half of a
table of 256 entries is left out when it is empty, as it is in tables for text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vyre.analysis import Ranges
from vyre.backends.llvm.emit.builder import Builder, constant, widened
from vyre.backends.llvm.emit.memory.byte_permute import (
    LANES,
    look_up_permuted,
    permutes_bytes,
    read_registers,
    registers_of,
)
from vyre.backends.llvm.emit.values import Memory, Table
from vyre.ir import BufferDecl, DataType, Load, Program
from vyre.ir.walk import walk_own_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.analysis.constant_tables import ConstantTable
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.host import Host

ENTRIES = 16
"""Entries in one shuffle."""
MOST_ENTRIES = 256
HALF = 8
"""Registers of the lower half of a table: the highest bit of the index is zero."""
BYTES = frozenset({DataType.U8, DataType.I8})


def table_sizes(program: Program) -> Mapping[int, int]:
    """Entries that loads from byte tables reach, by identity: small indices only."""
    tables = {d.name for d in program.buffers if not d.is_writable and d.element in BYTES}
    found: dict[int, int] = {}
    ranges = Ranges.of(program) if tables else None
    for position, statement in enumerate(walk_stmts(program.entry)):
        for node in walk_own_exprs(statement) if ranges is not None else ():
            if isinstance(node, Load) and node.buffer in tables and ranges is not None:
                known = ranges.interval(node.index, position)
                reached = MOST_ENTRIES + 1
                if known is not None and known.low >= 0:
                    reached = min(known.high + 1, reached)
                load = id(node)
                found[load] = max(reached, found.get(load, 0))
    return {node: reached for node, reached in found.items() if reached <= MOST_ENTRIES}


def rows_of(entries: int) -> int:
    """Registers of a table: a power of two."""
    return 1 << max((entries - 1) // ENTRIES, 0).bit_length()


def piece_lanes(host: Host, width: int) -> int:
    """Lanes per shuffle; 0 if the machine has none or the width is no multiple."""
    if host.architecture != "x86_64" or width % ENTRIES:
        return 0
    if "avx2" in host.enabled and width % 32 == 0:
        return 32
    return 16 if "ssse3" in host.enabled else 0


def is_worth_it(host: Host, width: int, entries: int) -> bool:
    """True if shuffles beat loads lane by lane."""
    if permutes_bytes(host):
        return width >= ENTRIES
    lanes = piece_lanes(host, width)
    # A load, a shuffle and a select per register; an index, a load and an insert per lane.
    return bool(lanes) and 3 * rows_of(entries) + 5 <= 3 * lanes


def operations_of(host: Host, entries: int) -> int:
    """Operations of a lookup of a vector of bytes."""
    return registers_of(entries) if permutes_bytes(host) else rows_of(entries)


def look_up(lanes: LaneContext, memory: Memory, index: str, entries: int) -> str:
    """The entries at `index`, one byte per lane; `index` holds bytes less than `entries`."""
    w, width, kernel = lanes.w, lanes.width, lanes.kernel
    if permutes_bytes(kernel.host):
        return look_up_permuted(w, _registers(kernel, memory, entries), index, width)
    piece = piece_lanes(kernel.host, width)
    key = (memory.decl.name, rows_of(entries), piece)
    table = kernel.tables.get(key)
    if table is None:
        table = kernel.tables[key] = _read_table(kernel, memory, rows_of(entries), piece)
    many = widened("i8", width)
    found: list[str] = []
    for start in range(0, width, piece):
        part = index
        if piece < width:
            picks = ", ".join(f"i32 {start + n}" for n in range(piece))
            mask = f"<{piece} x i32> <{picks}>"
            part = w.emit(f"shufflevector {many} {index}, {many} poison, {mask}")
        found.append(_look_up_piece(w, table, part, piece))
    count = piece
    while len(found) > 1:
        type_, count = widened("i8", count), 2 * count
        picks = ", ".join(f"i32 {n}" for n in range(count))
        found = [
            w.emit(f"shufflevector {type_} {a}, {type_} {b}, <{count} x i32> <{picks}>")
            for a, b in zip(found[::2], found[1::2], strict=True)
        ]
    return found[0]


def _look_up_piece(w: Builder, table: Table, index: str, piece: int) -> str:
    type_ = widened("i8", piece)
    low = _sum(w, table.low, index, piece)
    if not table.high:
        return low
    both, done = w.fresh("upper"), w.fresh("looked.up")
    before = w.label
    w.branch(table.has_high, both, done)
    w.block(both)
    flipped = w.emit(f"xor {type_} {index}, {constant('i8', 128, piece)}")
    high = _sum(w, table.high, flipped, piece)
    joined = w.emit(f"or {type_} {low}, {high}")
    after = w.label
    w.block(done)
    return w.emit(f"phi {type_} [ {low}, %{before} ], [ {joined}, %{after} ]")


def _sum(w: Builder, rows: list[str], index: str, piece: int) -> str:
    """The entries of one half; zero where the highest bit of the index is set."""
    type_ = widened("i8", piece)
    shuffle = "llvm.x86.avx2.pshuf.b" if piece == 32 else "llvm.x86.ssse3.pshuf.b.128"
    found = [w.call(shuffle, type_, (type_, row), (type_, index)) for row in rows]
    shift = 3
    while len(found) > 1:
        moved = w.emit(f"shl {type_} {index}, {constant('i8', shift, piece)}")
        flags = w.emit(f"icmp slt {type_} {moved}, {constant('i8', 0, piece)}")
        mask = w.emit(f"sext {widened('i1', piece)} {flags} to {type_}")
        pairs: list[str] = []
        for base, difference in zip(found[::2], found[1::2], strict=True):
            chosen = w.emit(f"and {type_} {difference}, {mask}")
            pairs.append(w.emit(f"xor {type_} {base}, {chosen}"))
        found, shift = pairs, shift - 1
    return found[0]


def _registers(kernel: Kernel, memory: Memory, entries: int) -> list[str]:
    count = registers_of(entries)
    key = (memory.decl.name, count, LANES)
    table = kernel.tables.get(key)
    if table is None:
        pointer = _filling(kernel, memory, count * LANES)
        table = Table(read_registers(kernel.w, pointer, count), [], "false")
        kernel.tables[key] = table
    return table.low


def _filling(kernel: Kernel, memory: Memory, nbytes: int) -> str:
    """A pointer to a table that is padded to a number of bytes."""
    is_large = memory.decl.count and memory.decl.count >= nbytes
    return memory.pointer if is_large else _padded(kernel, memory, nbytes)


def _read_table(kernel: Kernel, memory: Memory, rows: int, piece: int) -> Table:
    w = kernel.w
    pointer = _filling(kernel, memory, rows * ENTRIES)
    found: list[str] = []
    for row in range(rows):
        at = w.at_entry(f"getelementptr i8, ptr {pointer}, i64 {row * ENTRIES}")
        found.append(w.at_entry(f"load <16 x i8>, ptr {at}, align 1", "row"))
    has_high = "false"
    if rows > HALF:
        joined = found[HALF]
        for row in found[HALF + 1 :]:
            joined = w.at_entry(f"or <16 x i8> {joined}, {row}")
        bits = w.at_entry(f"bitcast <16 x i8> {joined} to i128")
        has_high = w.at_entry(f"icmp ne i128 {bits}, 0", "upper")
    low, high = (_differences(w, half, piece) for half in (found[:HALF], found[HALF:]))
    return Table(low, high, has_high)


def _differences(w: Builder, rows: list[str], piece: int) -> list[str]:
    """The xor differences by index bits, repeated to fill registers."""
    rows = list(rows)
    step = 1
    while step < len(rows):
        for row in range(len(rows)):
            if row & step:
                rows[row] = w.at_entry(f"xor <16 x i8> {rows[row]}, {rows[row ^ step]}")
        step *= 2
    if piece == ENTRIES:
        return rows
    picks = ", ".join(f"i32 {n % ENTRIES}" for n in range(piece))
    mask = f"<{piece} x i32> <{picks}>"
    return [w.at_entry(f"shufflevector <16 x i8> {r}, <16 x i8> poison, {mask}") for r in rows]


def constant_memory(kernel: Kernel, table: ConstantTable) -> Memory:
    """The table as a constant array, emitted once; bytes fill whole registers of shuffles.

    The default follows the entries, for indices that are clamped to their number.
    """
    bits = [entry.bits for entry in (*table.entries, table.default)]
    if table.element in BYTES:
        whole = rows_of(len(bits)) * ENTRIES
        if permutes_bytes(kernel.host):
            whole = max(whole, LANES)
        bits += [table.default.bits] * (whole - len(bits))
    type_ = f"i{8 * (table.element.size_bytes or 1)}"
    array = f"[{len(bits)} x {type_}] [{', '.join(f'{type_} {each}' for each in bits)}]"
    name = kernel.constant_tables.setdefault(array, f"vyre.table.{len(kernel.constant_tables)}")
    kernel.w.globals[name] = f"@{name} = internal constant {array}, align 64"
    decl = BufferDecl.read(name, 0, table.element).with_count(len(bits))
    return Memory(decl, f"@{name}", f"@{name}", str(len(bits)), shared=True)


def _padded(kernel: Kernel, memory: Memory, nbytes: int) -> str:
    """A copy of a table, zero-padded to the reach of the indices."""
    w = kernel.w
    pointer = kernel.take_scratch(nbytes)
    w.declarations["llvm.umin.i64"] = "declare i64 @llvm.umin.i64(i64, i64)"
    there = w.at_entry(f"call i64 @llvm.umin.i64(i64 {memory.count}, i64 {nbytes})")
    for name, source, length in (
        ("memset.p0.i64", "i8 0", str(nbytes)),
        ("memcpy.p0.p0.i64", f"ptr {memory.pointer}", there),
    ):
        kind = source.split()[0]
        w.declarations[f"llvm.{name}"] = f"declare void @llvm.{name}(ptr, {kind}, i64, i1)"
        arguments = f"ptr {pointer}, {source}, i64 {length}, i1 false"
        w.entry.append(f"  call void @llvm.{name}({arguments})")
    return pointer
