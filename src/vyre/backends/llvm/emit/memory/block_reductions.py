"""Block reductions: partial sums of floats per block of workgroups, in a fixed order.

The grid alone decides what a block is. One call runs a block from its first workgroup to its last:
the call in whose range the first one lies. Within a block the invocation with the global id x adds
to slot `x % SLOTS`. Contributions to one slot come in the order of workgroups, rows and ids,
however many lanes run together, so the bits of a sum depend neither on threads nor on vectors. At
the end of the block its slots are summed up as a tree. The call that ends the last block of all
combines the blocks' sums with the elements, in the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.block_reductions import BlockReduction
from vyre.backends.llvm.emit.builder import constant, widened
from vyre.backends.llvm.emit.values import BlockAccumulator

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.workgroup_range import Span

SLOTS: Final = 128
"""Partial sums of a block. No more lanes than these run together, so that none meet in a slot."""
_COUNTER: Final = 4
"""Offset of the number of blocks that are done, in the launching thread's memory."""
_TREE_LANES: Final = 16
"""Lanes of the vectors in which slots are summed up."""
_OPS: Final = {
    ir.AtomicOp.ADD: ir.BinOp.ADD,
    ir.AtomicOp.MIN: ir.BinOp.MIN,
    ir.AtomicOp.MAX: ir.BinOp.MAX,
}
_ELEMENT: Final = ir.DataType.F32


def _op(own: BlockAccumulator) -> ir.BinOp:
    return _OPS[own.reduction.op]


def _identity(own: BlockAccumulator, lanes: int = 0) -> str:
    """The value that changes none: -0 for sums, and NaN for extrema, which ignore it."""
    return constant("float", -0.0 if _op(own) is ir.BinOp.ADD else float("nan"), lanes)


def reserve_slots(kernel: Kernel, reductions: Mapping[tuple[str, int], BlockReduction]) -> None:
    """Allocate the slots and the blocks' sums in scratch memory, after its header."""
    for key, reduction in reductions.items():
        slots = kernel.take_scratch(4 * SLOTS)
        sums = kernel.scratch_bytes
        kernel.take_scratch(4 * heuristics.MAX_BLOCKS)
        kernel.accumulators[key] = BlockAccumulator(reduction, slots, sums)


def emit_contribution(lanes: LaneContext, expr: ir.Atomic) -> None:
    """Emit the addition of the active lanes' values to their slots."""
    kernel, w, width = lanes.kernel, lanes.w, lanes.width
    assert isinstance(expr.index, ir.Lit)
    own = kernel.accumulators[expr.buffer, int(expr.index.value)]
    value = lanes.value(expr.value)
    x = lanes.value(ir.Builtin(ir.BuiltinKind.GLOBAL_ID, 0))
    slot = w.emit(f"zext i32 {w.emit(f'and i32 {x.text}, {SLOTS - 1}')} to i64")
    if not width:
        _add(kernel, own, slot, value.text)
        return
    values, type_ = lanes.vector(value), widened("float", width)
    if lanes.mask is not None:
        flags = lanes.mask_flags(lanes.mask)
        none = _identity(own, width)
        values = w.emit(f"select {widened('i1', width)} {flags}, {type_} {values}, {type_} {none}")
    whole, parted, done = (w.fresh(n) for n in ("slots", "slots.parted", "slots.done"))
    w.branch(w.emit(f"icmp ule i64 {slot}, {SLOTS - width}"), whole, parted, likely=True)
    w.block(whole)
    _add(kernel, own, slot, values, width)
    w.jump(done)
    w.block(parted)
    spilled = w.slot(type_, "parted")
    w.do(f"store {type_} {values}, ptr {spilled}, align 4")

    def one(lane: str) -> None:
        found = w.emit(f"getelementptr float, ptr {spilled}, i64 {lane}")
        place = w.emit(f"and i64 {w.emit(f'add i64 {slot}, {lane}')}, {SLOTS - 1}")
        _add(kernel, own, place, w.load("float", found, ", align 4"))

    _for_each(kernel, str(width), one)
    w.block(done)


def _add(kernel: Kernel, own: BlockAccumulator, slot: str, value: str, width: int = 0) -> None:
    w, type_ = kernel.w, widened("float", width)
    place = w.emit(f"getelementptr float, ptr {own.slots}, i64 {slot}")
    old = w.load(type_, place, ", align 4")
    new = kernel.arithmetic.binary(_op(own), _ELEMENT, width, old, value)
    w.do(f"store {type_} {new}, ptr {place}, align 4")


def emit_blocks(
    kernel: Kernel,
    span: Span,
    emit: Callable[[Span], None],
    first_lane: Callable[[], LaneContext],
) -> None:
    """Emit the blocks that begin in a call's range, and the end of the last block of all.

    `emit` emits a range of workgroups; `first_lane` makes the context of a workgroup's first lane.
    """
    w = kernel.w
    x, y, z = (w.emit(f"zext i32 {extent} to i64") for extent in kernel.grid)
    groups = w.emit(f"mul i64 {w.emit(f'mul i64 {x}, {y}')}, {z}")
    size = _block_size(kernel, groups)
    first, last, blocks = (
        w.emit(f"udiv i64 {w.emit(f'add i64 {n}, {less}')}, {size}")
        for less in (w.emit(f"sub i64 {size}, 1"),)
        for n in (span.first, span.last, groups)
    )
    slot = w.slot("i64", "block")
    w.do(f"store i64 {first}, ptr {slot}")
    head, run, counted, done = (
        w.fresh(n) for n in ("blocks", "block", "blocks.counted", "blocks.done")
    )
    w.block(head)
    now = w.emit(f"load i64, ptr {slot}", "block")
    w.branch(w.emit(f"icmp ult i64 {now}, {last}"), run, counted)
    w.block(run)
    for own in kernel.accumulators.values():
        _clear(kernel, own)
    begin = w.emit(f"mul i64 {now}, {size}")
    end = w.intrinsic("umin", "i64", w.emit(f"add i64 {begin}, {size}"), groups)
    emit(replace(span, first=begin, last=end))
    shared = _shared(kernel)
    for own in kernel.accumulators.values():
        place = w.emit(f"getelementptr i8, ptr {shared}, i64 {own.sums}")
        place = w.emit(f"getelementptr float, ptr {place}, i64 {now}")
        w.do(f"store float {_sum_of_slots(kernel, own)}, ptr {place}, align 4")
    w.do(f"store i64 {w.emit(f'add i64 {now}, 1')}, ptr {slot}")
    w.jump(head)
    w.block(counted)
    _emit_count(kernel, w.emit(f"sub i64 {last}, {first}"), blocks, done, first_lane)


def _block_size(kernel: Kernel, groups: str) -> str:
    """Emit the workgroups of a block: of some length, and enough blocks for all threads."""
    w = kernel.w
    few = max(heuristics.MIN_BLOCK_INVOCATIONS // kernel.invocations, 1)
    wanted = w.intrinsic(
        "umax", "i64", w.emit(f"udiv i64 {groups}, {few}"), str(heuristics.MIN_BLOCKS)
    )
    wanted = w.intrinsic("umin", "i64", wanted, str(heuristics.MAX_BLOCKS))
    more = w.emit(f"add i64 {groups}, {w.emit(f'sub i64 {wanted}, 1')}")
    return w.emit(f"udiv i64 {more}, {wanted}")


def _shared(kernel: Kernel) -> str:
    """Emit the address of the launching thread's memory."""
    place = kernel.w.emit("getelementptr inbounds %vyre.launch, ptr %launch, i32 0, i32 6")
    return kernel.w.emit(f"load ptr, ptr {place}, align 8", "shared")


def _clear(kernel: Kernel, own: BlockAccumulator) -> None:
    w = kernel.w
    for at in range(0, SLOTS, _TREE_LANES):
        place = w.emit(f"getelementptr float, ptr {own.slots}, i64 {at}")
        none = _identity(own, _TREE_LANES)
        w.do(f"store {widened('float', _TREE_LANES)} {none}, ptr {place}, align 64")


def _sum_of_slots(kernel: Kernel, own: BlockAccumulator) -> str:
    """Emit the sum of a block's slots, halving their number until one is left."""
    w, type_ = kernel.w, widened("float", _TREE_LANES)

    def joined(a: str, b: str, lanes: int) -> str:
        return kernel.arithmetic.binary(_op(own), _ELEMENT, lanes, a, b)

    vectors: list[str] = []
    for at in range(0, SLOTS, _TREE_LANES):
        place = w.emit(f"getelementptr float, ptr {own.slots}, i64 {at}")
        vectors.append(w.emit(f"load {type_}, ptr {place}, align 64"))
    while len(vectors) > 1:
        half = len(vectors) // 2
        vectors = [joined(vectors[n], vectors[n + half], _TREE_LANES) for n in range(half)]
    (left,), lanes = vectors, _TREE_LANES
    while lanes > 2:
        lanes //= 2
        parts: list[str] = []
        for start in (0, lanes):
            chosen = ", ".join(f"i32 {start + n}" for n in range(lanes))
            many = widened("float", 2 * lanes)
            parts.append(
                w.emit(f"shufflevector {many} {left}, {many} poison, <{lanes} x i32> <{chosen}>")
            )
        left = joined(parts[0], parts[1], lanes)
    first, second = (w.emit(f"extractelement <2 x float> {left}, i64 {n}") for n in (0, 1))
    return joined(first, second, 0)


def _emit_count(
    kernel: Kernel, number: str, blocks: str, done: str, first_lane: Callable[[], LaneContext]
) -> None:
    """Emit the count of finished blocks; the call that finishes the last one combines all."""
    w = kernel.w
    some, last = w.fresh("blocks.some"), w.fresh("blocks.last")
    w.branch(w.emit(f"icmp eq i64 {number}, 0"), done, some)
    w.block(some)
    counter = w.emit(f"getelementptr i8, ptr {_shared(kernel)}, i64 {_COUNTER}")
    own, all_ = (w.emit(f"trunc i64 {n} to i32") for n in (number, blocks))
    before = w.emit(f"atomicrmw add ptr {counter}, i32 {own} acq_rel")
    ended = w.emit(f"icmp eq i32 {w.emit(f'add i32 {before}, {own}')}, {all_}")
    w.branch(ended, last, done)
    w.block(last)
    kernel.set_group(("0", "0", "0"))
    for each in kernel.accumulators.values():
        _combine(kernel, each, blocks, first_lane())
    w.jump(done)
    w.block(done)


def _combine(kernel: Kernel, own: BlockAccumulator, blocks: str, lanes: LaneContext) -> None:
    """Emit the combination of an element with the blocks' sums; identities change no bit."""
    w, memory = kernel.w, kernel.memories[own.reduction.decl.name]
    index = lanes.memory.wide(lanes.value(own.reduction.index))
    inside, outside = w.fresh("combine"), w.fresh("combined")
    w.branch(w.emit(f"icmp ult i64 {index}, {memory.count}"), inside, outside)
    w.block(inside)
    element = w.emit(f"getelementptr float, ptr {memory.pointer}, i64 {index}")
    sums = w.emit(f"getelementptr i8, ptr {_shared(kernel)}, i64 {own.sums}")

    def join(block: str) -> None:
        place = w.emit(f"getelementptr float, ptr {sums}, i64 {block}")
        found = w.load("float", place, ", align 4")
        if _op(own) is ir.BinOp.ADD:
            bits = w.emit(f"bitcast float {found} to i32")
            none = w.emit(f"icmp eq i32 {bits}, {-(1 << 31)}")
        else:
            none = w.emit(f"fcmp uno float {found}, {found}")
        change, same = w.fresh("change"), w.fresh("same")
        w.branch(none, same, change)
        w.block(change)
        old = w.load("float", element, ", align 4")
        new = kernel.arithmetic.binary(_op(own), _ELEMENT, 0, old, found)
        w.do(f"store float {new}, ptr {element}, align 4")
        w.jump(same)
        w.block(same)

    _for_each(kernel, blocks, join)
    w.jump(outside)
    w.block(outside)


def _for_each(kernel: Kernel, count: str, action: Callable[[str], None]) -> None:
    """Emit a loop that counts from zero; the first iteration always runs."""
    w = kernel.w
    slot = w.slot("i64", "each")
    w.do(f"store i64 0, ptr {slot}")
    head, done = w.fresh("each"), w.fresh("each.done")
    w.block(head)
    now = w.emit(f"load i64, ptr {slot}", "each")
    action(now)
    following = w.emit(f"add nuw i64 {now}, 1")
    w.do(f"store i64 {following}, ptr {slot}")
    w.repeat(w.emit(f"icmp ult i64 {following}, {count}"), head, done)
    w.block(done)


__all__ = [
    "SLOTS",
    "emit_blocks",
    "emit_contribution",
    "reserve_slots",
]
