"""Interleaved accesses: contiguous vector accesses and shuffles for small strides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder, constant, widened
from vyre.backends.llvm.emit.memory.nontemporal import PIECE, emit_either_store
from vyre.backends.llvm.emit.memory.transpose import (
    joined,
    pieces_of,
    starts_of,
)
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY, memory_type
from vyre.backends.llvm.emit.values import LaneShape, Memory, Strided, Value
from vyre.ir.walk import walk_expr

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.statements import Statements


def is_worth_it(lanes: LaneContext, strided: Strided, element: ir.DataType) -> bool:
    """True if access to structures or pieces beats lane-by-lane access."""
    if element.is_vector or element in STORAGE_ONLY:
        return False
    if _is_whole(strided, element):
        return True
    size = element.size_bytes or 1
    return pieces_of(lanes, memory_type(element), size, strided.stride) is not None


def _is_whole(strided: Strided, element: ir.DataType) -> bool:
    """True if structures are accessed as a whole."""
    nbytes = strided.stride * (element.size_bytes or 1)
    return (
        strided.stride <= heuristics.MAX_WHOLE_STRUCT_STRIDE
        or nbytes < heuristics.MIN_TRANSPOSED_BYTES
    )


def read_strided(lanes: LaneContext, memory: Memory, at: str, strided: Strided) -> str:
    """The elements of all lanes in memory format; `at` is the first lane's index."""
    w, width = lanes.w, lanes.width
    element = memory.decl.element
    size, stride = element.size_bytes or 1, strided.stride
    type_ = memory_type(element)
    extra = lanes.memory.metadata(memory)
    pieces = pieces_of(lanes, type_, size, stride)
    if pieces is not None:
        pointer = _structure_pointer(lanes, memory, at, strided)
        return pieces.read(pointer, strided.place, extra)
    pointer = _step_pointer(lanes, memory, at, strided)
    if stride == 4 and size == 1 and width % 4 == 0:
        return _read_quads(lanes, pointer, strided.place, extra)
    if stride == 2 and size <= 4:
        bits = 8 * size
        whole, part = widened(f"i{bits * stride}", width), widened(f"i{bits}", width)
        found = w.emit(f"load {whole}, ptr {pointer}, align {size}{extra}")
        if strided.place:
            amount = constant(f"i{bits * stride}", bits * strided.place, width)
            found = w.emit(f"lshr {whole} {found}, {amount}")
        cut = w.emit(f"trunc {whole} {found} to {part}")
        wanted = widened(type_, width)
        return cut if wanted == part else w.emit(f"bitcast {part} {cut} to {wanted}")
    many = widened(type_, width * stride)
    found = w.emit(f"load {many}, ptr {pointer}, align {size}{extra}")
    picks = ", ".join(f"i32 {lane * stride + strided.place}" for lane in range(width))
    return w.emit(f"shufflevector {many} {found}, {many} poison, <{width} x i32> <{picks}>")


def is_word(strided: Strided, element: ir.DataType) -> bool:
    """True if one lane's structure fills a machine word."""
    bits = 8 * strided.stride * (element.size_bytes or 1)
    return element.is_integer and bits in (32, 64)


def read_from_word(lanes: LaneContext, memory: Memory, index: Value, strided: Strided) -> str:
    """One lane's element, extracted from its structure's word; LLVM merges equal loads."""
    w = lanes.w
    element = memory.decl.element
    size = element.size_bytes or 1
    bits = 8 * size * strided.stride
    pointer = _step_pointer(lanes, memory, index.text, strided)
    extra = lanes.memory.metadata(memory)
    found = w.emit(f"load i{bits}, ptr {pointer}, align {size}{extra}")
    if strided.place:
        found = w.emit(f"lshr i{bits} {found}, {8 * size * strided.place}")
    cut = w.emit(f"trunc i{bits} {found} to i{8 * size}")
    return cut if memory.constant else w.emit(f"freeze i{8 * size} {cut}")


def _read_quads(lanes: LaneContext, pointer: str, place: int, extra: str) -> str:
    """Byte deinterleave by four: within sixteen bytes by member, then four at a time."""
    w, width = lanes.w, lanes.width
    if width not in (16, 32):
        return _read_quads_at_once(lanes, pointer, place, extra)
    type_, words = widened("i8", width), widened("i32", width // 4)
    order = [4 * step + within for within in range(4) for step in range(4)]
    rows: list[str] = []
    for row in range(4):
        # The upper half of a register is loaded from further on: the next shuffles stay in halves.
        blocks = [row + 4 * half for half in range(width // 16)]
        found = [_sixteen_bytes(lanes, pointer, block, extra) for block in blocks]
        joined = found[0]
        if len(found) > 1:
            picks = _picks(range(32))
            joined = w.emit(f"shufflevector <16 x i8> {found[0]}, <16 x i8> {found[1]}, {picks}")
        picks = _picks(16 * half + n for half in range(width // 16) for n in order)
        near = w.emit(f"shufflevector {type_} {joined}, {type_} poison, {picks}")
        rows.append(w.emit(f"bitcast {type_} {near} to {words}"))
    pairs = [_zipped(lanes, a, b, place // 2) for a, b in zip(rows[::2], rows[1::2], strict=True)]
    double = widened("i64", width // 8)
    wide = [w.emit(f"bitcast {words} {pair} to {double}") for pair in pairs]
    count = width // 8
    starts = [half + place % 2 for half in range(0, count, 2)]
    picks = _picks(n for start in starts for n in (start, start + count))
    taken = w.emit(f"shufflevector {double} {wide[0]}, {double} {wide[1]}, {picks}")
    return w.emit(f"bitcast {double} {taken} to {type_}")


def _sixteen_bytes(lanes: LaneContext, pointer: str, block: int, extra: str) -> str:
    w = lanes.w
    at = w.emit(f"getelementptr i8, ptr {pointer}, i64 {16 * block}") if block else pointer
    return w.emit(f"load <16 x i8>, ptr {at}, align 1{extra}")


def _zipped(lanes: LaneContext, a: str, b: str, upper: int) -> str:
    """Interleave (unpack) words of one half of each sixteen bytes."""
    count = lanes.width // 4
    type_ = widened("i32", count)
    starts = [base + 2 * upper + n for base in range(0, count, 4) for n in (0, 1)]
    picks = _picks(n for start in starts for n in (start, start + count))
    return lanes.w.emit(f"shufflevector {type_} {a}, {type_} {b}, {picks}")


def _picks(places: Iterable[int]) -> str:
    """The mask of a shuffle."""
    chosen = [f"i32 {place}" for place in places]
    return f"<{len(chosen)} x i32> <{', '.join(chosen)}>"


def _read_quads_at_once(lanes: LaneContext, pointer: str, place: int, extra: str) -> str:
    w, width = lanes.w, lanes.width
    many, words = widened("i8", 4 * width), widened("i32", width)
    found = w.emit(f"load {many}, ptr {pointer}, align 1{extra}")
    sorted_ = _picks(
        16 * block + 4 * step + within
        for block in range(width // 4)
        for within in range(4)
        for step in range(4)
    )
    near = w.emit(f"shufflevector {many} {found}, {many} poison, {sorted_}")
    quads = w.emit(f"bitcast {many} {near} to {words}")
    picks = _picks(4 * block + place for block in range(width // 4))
    taken = w.emit(f"shufflevector {words} {quads}, {words} poison, {picks}")
    return w.emit(f"bitcast {widened('i32', width // 4)} {taken} to {widened('i8', width)}")


def store_group(statements: Statements, body: ir.Body, position: int) -> int:
    """Emit adjacent stores to the same structures together; returns their number."""
    first = body[position]
    assert isinstance(first, ir.Store)
    lanes = statements.lanes
    lead = lanes.strided.get(id(first))
    if lead is None or lanes.mask is not None or len(statements.views) > 1:
        return 0
    memory = statements.written(lanes, first.buffer)
    if not is_worth_it(lanes, lead, memory.decl.element):
        return 0
    stores: dict[int, ir.Store] = {}
    for statement in body[position : position + lead.stride]:
        if not isinstance(statement, ir.Store) or statement.buffer != first.buffer:
            break
        found = lanes.strided.get(id(statement))
        if found is None or not _is_same_structure(found, lead) or found.place in stores:
            break
        if not _is_still(statements, statement, lead, stores):
            break
        stores[found.place] = statement
    if _is_whole(lead, memory.decl.element):
        if len(stores) != lead.stride:
            return 0
        at = lanes.value(stores[0].index)
        if at.stride == lead.stride:
            _write(lanes, memory, at, [stores[n] for n in range(lead.stride)])
            return lead.stride
        return 0
    return len(stores) if _write_pieces(statements, memory, lead, stores) else 0


def _is_same_structure(one: Strided, other: Strided) -> bool:
    """True if two accesses of a lane are to the same structure."""
    return (one.stride, one.base, one.block) == (other.stride, other.base, other.block)


def _is_still(
    statements: Statements, store: ir.Store, lead: Strided, before: Mapping[int, ir.Store]
) -> bool:
    """True if the stored value cannot depend on the earlier stores.

    Members of the structure that the lane has not yet stored to are private to the lane.
    """
    for node in walk_expr(store.value):
        if isinstance(node, ir.Atomic):
            return False
        if isinstance(node, ir.Load) and not statements.lanes.buffer(node.buffer).constant:
            found = statements.lanes.strided.get(id(node))
            if found is None or node.buffer != store.buffer or found.place in before:
                return False
            if not _is_same_structure(found, lead):
                return False
    return True


def _write_pieces(
    statements: Statements, memory: Memory, lead: Strided, stores: Mapping[int, ir.Store]
) -> bool:
    """Write structures in pieces, and the rest lane by lane; False if there is no piece."""
    lanes, element = statements.lanes, memory.decl.element
    size, type_ = element.size_bytes or 1, memory_type(element)
    pieces = pieces_of(lanes, type_, size, lead.stride)
    starts = [] if pieces is None else starts_of(pieces, stores)
    if pieces is None or not starts:
        return False
    found = lanes.strided[id(stores[starts[0]])]
    at = lanes.index(stores[starts[0]])
    if at.stride != lead.stride:
        return False
    values = {place: lanes.value(store.value) for place, store in stores.items()}
    forms = {
        place: lanes.memory.stored_form(lanes.vector(value), element, lanes.width)
        for place, value in values.items()
    }
    pointer = _structure_pointer(lanes, memory, at.text, found)
    left = set(stores)
    for start in starts:
        whole = range(start, start + pieces.count)
        pieces.write(pointer, start, [forms[place] for place in whole])
        left.difference_update(whole)
    for place in sorted(left):
        store = stores[place]
        at, proven = lanes.index(store), lanes.proven(store)
        lanes.memory.store(memory, at, values[place], proven=proven)
    return True


def _write(lanes: LaneContext, memory: Memory, first: Value, stores: list[ir.Store]) -> None:
    w, width, stride = lanes.w, lanes.width, len(stores)
    element = memory.decl.element
    type_ = memory_type(element)
    at = lanes.memory.wide(Value(first.dtype, LaneShape.UNIFORM, first.text))
    pieces: list[str] = []
    for store in stores:
        value = lanes.vector(lanes.value(store.value))
        pieces.append(lanes.memory.stored_form(value, element, width))
    pointer = w.emit(f"getelementptr {type_}, ptr {memory.pointer}, i64 {at}")
    size = element.size_bytes or 1
    mixed = partial(_write_mixed, lanes, pieces, pointer, type_, size)
    if memory.cached and (stride, size, width) == (3, 1, 32):
        emit_either_store(
            w, pointer, memory.cached, partial(_write_triples, w, pieces, pointer), mixed
        )
    else:
        mixed()


def _write_mixed(
    lanes: LaneContext, pieces: list[str], pointer: str, type_: str, size: int
) -> None:
    """Interleave the vectors with one shuffle, which LLVM lowers well, and store."""
    w, width, stride = lanes.w, lanes.width, len(pieces)
    half = 1 << ((stride - 1).bit_length() - 1)
    padded = [*pieces, *["poison"] * (2 * half - stride)]
    two = widened(type_, half * width)
    first, rest = (joined(w, type_, width, part) for part in (padded[:half], padded[half:]))
    many = widened(type_, stride * width)
    picks = ", ".join(f"i32 {n * width + lane}" for lane in range(width) for n in range(stride))
    mask = f"<{stride * width} x i32> <{picks}>"
    mixed = w.emit(f"shufflevector {two} {first}, {two} {rest}, {mask}")
    w.do(f"store {many} {mixed}, ptr {pointer}, align {size}")


def _write_triples(w: Builder, pieces: list[str], pointer: str) -> None:
    """Non-temporal store of three bytes per lane: shuffled and written in register halves."""
    type_ = widened("i8", 32)
    for row in range(3):
        found = [
            w.emit(f"shufflevector {type_} {piece}, {type_} zeroinitializer, {_sorted(row, part)}")
            for part, piece in enumerate(pieces)
        ]
        some = w.emit(f"or {type_} {found[0]}, {found[1]}")
        whole = w.emit(f"or {type_} {some}, {found[2]}")
        for half in range(2):
            picks = _picks(range(16 * half, 16 * half + 16))
            piece = w.emit(f"shufflevector {type_} {whole}, {type_} poison, {picks}")
            at = w.emit(f"getelementptr i8, ptr {pointer}, i64 {48 * half + 16 * row}")
            w.do(f"store <16 x i8> {piece}, ptr {at}, align {PIECE}, !nontemporal !2")


def _sorted(row: int, part: int) -> str:
    """The shuffle mask of one of three members into sixteen bytes; zeros elsewhere."""
    places: list[int] = []
    for half in (0, 16):
        for byte in range(16 * row, 16 * row + 16):
            places.append(half + byte // 3 if byte % 3 == part else 32)
    return _picks(places)


def _step_pointer(lanes: LaneContext, memory: Memory, at: str, strided: Strided) -> str:
    w = lanes.w
    start = w.emit(f"sub i32 {at}, {strided.place}") if strided.place else at
    wide = w.emit(f"zext i32 {start} to i64")
    type_ = memory_type(memory.decl.element)
    return w.emit(f"getelementptr {type_}, ptr {memory.pointer}, i64 {wide}")


def _structure_pointer(lanes: LaneContext, memory: Memory, at: str, strided: Strided) -> str:
    """The address of the first lane's structure: one expression for all its members."""
    w, base = lanes.w, lanes.value(strided.base)
    if base.form is not LaneShape.LINEAR or base.stride != strided.stride:
        return _step_pointer(lanes, memory, at, strided)
    skipped = strided.block * strided.stride % (1 << 32)
    start = w.emit(f"add i32 {base.text}, {skipped}") if skipped else base.text
    wide = w.emit(f"zext i32 {start} to i64")
    type_ = memory_type(memory.decl.element)
    return w.emit(f"getelementptr {type_}, ptr {memory.pointer}, i64 {wide}")
