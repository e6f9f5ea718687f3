"""Private arrays, interleaved across the lanes of a vector.

An array that one parallel region uses, and no loop around the region repeats, is live only while
its lanes run. It then needs no memory per invocation: every set of lanes reuses the same few bytes
on the stack and zeroes them first, so that LLVM keeps elements in registers where indices are
constants. Sets of several lanes hold an element as a vector, one value per lane, so that an access
at a uniform index is one load or store for all of them.

A uniform index is checked once, as a scalar, even where it is proven for active lanes: without an
active lane nothing is proven about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.parallel_regions import (
    Once,
    ParallelRegion,
    Piece,
    Together,
    regions_in,
)
from vyre.backends.llvm.emit.builder import constant, register_type, widened
from vyre.backends.llvm.emit.storage_formats import memory_type
from vyre.backends.llvm.emit.values import Memory, Value, varying
from vyre.ir.walk import walk_all_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.emit.expressions import LaneContext


def own_arrays(kernel: Kernel, work: tuple[Piece, ...]) -> frozenset[str]:
    """Arrays live in one parallel region only; each lane runs it once."""
    names = {decl.name for decl in kernel.program.buffers if decl.is_local}
    if not names:
        return frozenset()
    return frozenset(names - _uses(work)[1])


def _uses(work: tuple[Piece, ...]) -> tuple[set[str], set[str]]:
    """The buffers that pieces access, and those of them that need memory between regions.

    Of two branches one runs: they may access the same array.
    """
    used: set[str] = set()
    shared: set[str] = set()
    for piece in work:
        now: set[str] = set()
        match piece:
            case ParallelRegion(body):
                now = accessed(body)
            case Together(ir.If(), arms):
                for arm in arms:
                    inner, between = _uses(arm)
                    now |= inner
                    shared |= between
            case Together(_, inner):
                now = (
                    accessed(tuple(s for r in regions_in(inner[0]) for s in r.body))
                    if inner
                    else set()
                )
                shared |= now
            case Once():
                pass
        shared |= used & now
        used |= now
    return used, shared


def accessed(body: ir.Body) -> set[str]:
    """The buffers that statements load from or store to."""
    loaded = {e.buffer for e in walk_all_exprs(body) if isinstance(e, (ir.Load, ir.Atomic))}
    return loaded | {s.buffer for s in walk_stmts(body) if isinstance(s, ir.Store)}


def bytes_together(kernel: Kernel, lanes: int) -> int:
    """Bytes of the private arrays of this number of lanes."""
    decls = (decl for decl in kernel.program.buffers if decl.name in kernel.own_arrays)
    return sum((decl.size_bytes or 0) for decl in decls) * lanes


def emit_own_array(kernel: Kernel, decl: ir.BufferDecl, lanes: LaneContext, number: int) -> Memory:
    """The zeroed array of a set of lanes; `number` is that of the set within its jam."""
    w, many = kernel.w, max(lanes.width, 1)
    nbytes = (decl.size_bytes or 0) * many
    # Arrays that may be in registers are not shared with regions that may be outlined.
    key = (
        decl.name,
        lanes.width,
        number,
        kernel.aside and nbytes <= heuristics.MAX_REGISTER_ARRAY_BYTES,
    )
    pointer = kernel.own_places.get(key)
    if pointer is None:
        if (
            nbytes <= heuristics.MAX_STACK_ARRAY_BYTES
            and kernel.array_bytes + nbytes <= heuristics.MAX_STACK_ARRAYS_BYTES
        ):
            kernel.array_bytes += nbytes
            align = min(nbytes & -nbytes, 64) if nbytes else 1
            pointer = w.at_entry(f"alloca [{nbytes} x i8], align {align}", decl.name)
        else:
            pointer = kernel.take_scratch(nbytes)
        kernel.own_places[key] = pointer
    name = "llvm.memset.p0.i64"
    w.call(name, "void", ("ptr", pointer), ("i8", "0"), ("i64", str(nbytes)), ("i1", "false"))
    side_by_side = bool(lanes.width) and not decl.element.is_vector
    return Memory(
        decl,
        pointer,
        pointer,
        str(decl.count),
        shared=False,
        private=True,
        side_by_side=side_by_side,
    )


def load_together(lanes: LaneContext, memory: Memory, index: Value) -> Value:
    """The elements of all lanes at a uniform index; zero out of bounds."""
    w, width = lanes.w, lanes.width
    element = memory.decl.element
    at, inside = _clamped(lanes, memory, index)
    pointer = _place(lanes, memory, at)
    type_ = widened(memory_type(element), width)
    found = w.emit(f"load {type_}, ptr {pointer}, align {element.size_bytes or 1}")
    value = lanes.memory.value_of(memory, found, element, width)
    if inside:
        many = register_type(element.value_type, width)
        zero = constant(register_type(element.value_type), 0, width)
        value = w.emit(f"select i1 {inside}, {many} {value}, {many} {zero}")
    return varying(element.value_type, value)


def store_together(lanes: LaneContext, memory: Memory, index: Value, value: Value) -> None:
    """Store the elements of the active lanes at a uniform index."""
    w, width = lanes.w, lanes.width
    element = memory.decl.element
    at, inside = _clamped(lanes, memory, index)
    done = ""
    if inside:
        write, done = w.fresh("write"), w.fresh("written")
        w.branch(inside, write, done, likely=True)
        w.block(write)
    pointer = _place(lanes, memory, at)
    type_ = widened(memory_type(element), width)
    stored = lanes.memory.stored_form(lanes.vector(value), element, width)
    if lanes.mask is not None:
        # The array is private, so that inactive lanes may be written back unchanged.
        old = w.emit(f"load {type_}, ptr {pointer}, align {element.size_bytes or 1}")
        flags = lanes.mask_flags(lanes.mask)
        stored = w.emit(f"select <{width} x i1> {flags}, {type_} {stored}, {type_} {old}")
    w.do(f"store {type_} {stored}, ptr {pointer}, align {element.size_bytes or 1}")
    if inside:
        w.jump(done)
        w.block(done)


def _clamped(lanes: LaneContext, memory: Memory, index: Value) -> tuple[str, str]:
    """A clamped index, an i64, and the bounds test; "" if proven."""
    w = lanes.w
    at = lanes.memory.wide(index)
    if not at.startswith("%") and 0 <= int(at) < memory.decl.count:
        return at, ""
    inside = w.emit(f"icmp ult i64 {at}, {memory.count}")
    return w.emit(f"select i1 {inside}, i64 {at}, i64 0"), inside


def _place(lanes: LaneContext, memory: Memory, at: str) -> str:
    nbytes = (memory.decl.element.size_bytes or 1) * lanes.width
    return lanes.w.emit(f"getelementptr [{nbytes} x i8], ptr {memory.pointer}, i64 {at}")
