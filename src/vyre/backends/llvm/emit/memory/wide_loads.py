"""Load combining: words assembled from bytes, by one wide load.

`u32(a[p]) | u32(a[p + 1]) << 8 | …` is how programs read a number from bytes. Scalar lanes check
once that all of it is in bounds, and then load the number in one access, byte-swapped if it is
big-endian. Where the check fails, the bytes are loaded one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.analysis import is_movable
from vyre.backends.llvm.analysis.consecutive_loads import MODULUS, Neighbours, neighbours_of
from vyre.backends.llvm.emit.builder import register_type
from vyre.backends.llvm.emit.values import Value, uniform
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext

JOINING = frozenset({ir.BinOp.OR, ir.BinOp.ADD, ir.BinOp.XOR})
"""Operators that combine operands without common bits."""
_PARTS = {ir.DataType.U8: 8, ir.DataType.U16: 16, ir.DataType.U32: 32}
_WORDS = (16, 32, 64)
_MOST_PARTS = 8


@dataclass(frozen=True, slots=True)
class Word:
    """Consecutive loads that form a word."""

    dtype: ir.DataType
    loads: tuple[ir.Load, ...]
    """In the order of their addresses."""
    bits: int
    turned: bool
    """True if the first load is the most significant (big-endian)."""
    places: Neighbours


def word_of(expr: ir.Binary, lanes: LaneContext) -> Word | None:
    """The word that an expression assembles, or None."""
    parts: dict[int, ir.Load] = {}
    dtype = _collect(expr, 0, parts)
    if dtype is None or len(parts) < 2:
        return None
    loads = [parts[shift] for shift in sorted(parts)]
    if not all(is_movable(load.index) for load in loads):
        return None
    decl = lanes.buffer(loads[0].buffer).decl
    size = _PARTS.get(decl.element, 0)
    bits = size * len(loads)
    if any(load.buffer != decl.name for load in loads) or bits not in _WORDS or decl.is_local:
        return None
    if sorted(parts) != list(range(0, bits, size)) or bits > (dtype.bits or 0):
        return None
    for turned in (False, True):
        ordered = loads[::-1] if turned else loads
        places = neighbours_of([load.index for load in ordered])
        if places is not None and (size == 8 or not turned) and _are_unsigned(places, lanes):
            return Word(dtype, tuple(ordered), bits, turned, places)
    return None


def _are_unsigned(places: Neighbours, lanes: LaneContext) -> bool:
    """True if indices are of type u32: in 64 bits their wrapping is detectable."""
    env = lanes.kernel.env
    sums = [places.first, *(begin for begin, _ in places.rising)]
    return all(ir.type_of(one, env) is ir.DataType.U32 for one in sums)


def _collect(expr: ir.AnyExpr, shift: int, parts: dict[int, ir.Load]) -> ir.DataType | None:
    """Collect the loads of an expression by shift; returns its type, or None."""
    match expr:
        case ir.Binary(op, left, right) if op in JOINING:
            # The right operand first: it fails most often if this is not a word.
            dtype = _collect(right, shift, parts)
            return dtype if dtype is not None and _collect(left, shift, parts) is dtype else None
        case ir.Binary(ir.BinOp.SHL, value, ir.Lit(_, bits)) if bits < 64:
            return _collect(value, shift + bits, parts)
        case ir.Cast(ir.Load() as load, dtype):
            if not dtype.is_integer or shift in parts or len(parts) == _MOST_PARTS:
                return None
            parts[shift] = load
            return dtype
        case _:
            return None


def emit_word(lanes: LaneContext, expr: ir.Binary, word: Word) -> Value:
    """The word, by one load where it is inside the buffer."""
    w = lanes.w
    memory = lanes.buffer(word.loads[0].buffer)
    at = lanes.memory.wide(lanes.value(word.places.first))
    fits = _emit_test(lanes, word, at)
    fast, slow, done = (w.fresh(n) for n in ("word", "bytes", "word.done"))
    w.branch(fits, fast, slow, likely=True)
    w.block(fast)
    size = word.bits // len(word.loads) // 8
    extra = lanes.memory.metadata(memory)
    pointer = w.emit(f"getelementptr [{size} x i8], ptr {memory.pointer}, i64 {at}")
    found = w.emit(f"load i{word.bits}, ptr {pointer}, align {size}{extra}")
    if not memory.constant:
        found = w.emit(f"freeze i{word.bits} {found}")
    if word.turned:
        found = w.intrinsic("bswap", f"i{word.bits}", found)
    type_ = register_type(word.dtype)
    if word.bits < (word.dtype.bits or 0):
        found = w.emit(f"zext i{word.bits} {found} to {type_}")
    fast_label = w.label
    w.jump(done)
    w.block(slow)
    # The side effect keeps LLVM from if-converting the block and hoisting its loads.
    w.do('call void asm sideeffect "", ""()')
    one_by_one = lanes.by_parts(expr)
    slow_label = w.label
    w.jump(done)
    w.block(done)
    joined = w.emit(f"phi {type_} [ {found}, %{fast_label} ], [ {one_by_one.text}, %{slow_label} ]")
    return uniform(word.dtype, joined)


def _emit_test(lanes: LaneContext, word: Word, at: str) -> str:
    """The test that all loads are consecutive without wrapping, and in bounds."""
    w = lanes.w
    more = len(word.loads) - 1
    known = all(map(lanes.proven, word.loads)) and not word.places.rising
    last = w.emit(f"add i64 {at}, {more}")
    count = str(MODULUS)
    if not known:
        count = w.intrinsic("umin", "i64", lanes.buffer(word.loads[0].buffer).count, count)
    holds = w.emit(f"icmp ult i64 {last}, {count}")
    for condition in word.places.fixed:
        holds = w.emit(f"and i1 {holds}, {lanes.value(condition).text}")
    for begin, limit in word.places.rising:
        tested = lanes.memory.wide(lanes.value(begin))
        end = lanes.memory.wide(lanes.value(limit))
        last = w.emit(f"add i64 {tested}, {more}")
        below = w.emit(f"icmp ult i64 {last}, {end}")
        holds = w.emit(f"and i1 {holds}, {below}")
    return holds
