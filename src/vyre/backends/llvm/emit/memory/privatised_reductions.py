"""Privatised reductions: histograms, counters and extrema per thread.

Where a kernel accesses a buffer only by reduction atomics whose results are unused, the time at
which they happen is not observable before the end of the launch. So each thread reduces into memory
of its own, without locked instructions, and combines that with the buffer at the end, element by
element. Integer results do not depend on the order; those of floats do, and are reduced in blocks
(`block_reductions`). A thread's memory is limited: longer buffers, and buffers that are long for
the number of invocations, are updated directly, which is decided at each launch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from vyre import ir
from vyre.analysis import Ranges
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.reduction_atomics import is_reducing, reduced_buffers
from vyre.backends.llvm.emit.builder import register_type
from vyre.backends.llvm.emit.values import PrivatisedReduction, ReductionPlan
from vyre.ir.walk import walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel

HEADER_BYTES: Final = 64
"""Header of a thread's memory: whether it is initialised, a word that block reductions count in,
and a flag per buffer."""
_FLAGS: Final = 8
"""Offset of the flags."""


def is_joining(expr: ir.Atomic, element: ir.DataType) -> bool:
    """True if the atomic is an associative, commutative reduction, its result unused."""
    return element.is_integer and is_reducing(expr)


def identity_of(op: ir.AtomicOp, dtype: ir.DataType) -> int:
    """The identity element of a reduction operator."""
    bits = dtype.bits or 32
    most = (1 << (bits - 1)) - 1 if dtype.is_signed else (1 << bits) - 1
    least = -most - 1 if dtype.is_signed else 0
    match op:
        case ir.AtomicOp.AND:
            return -1
        case ir.AtomicOp.MIN:
            return most
        case ir.AtomicOp.MAX:
            return least
        case _:
            return 0


def privatisable_reductions(program: ir.Program) -> tuple[ReductionPlan, ...]:
    """The buffers that may be privatised."""
    buffers = [each for each in reduced_buffers(program) if each.decl.element.is_integer]
    ranges = Ranges.of(program) if buffers else None
    looped = _positions_in_loops(program) if buffers else frozenset[int]()
    plans: list[ReductionPlan] = []
    for each in buffers:
        assert ranges is not None
        decl = each.decl
        reach = max(_reach(ranges, position, node) for position, node in each.atomics)
        room = heuristics.MAX_PRIVATISED_BYTES // (decl.element.size_bytes or 4)
        entries = min(reach, room, decl.count or room)
        in_loop = any(position in looped for position, _ in each.atomics)
        plans.append(ReductionPlan(decl, each.op, entries, reach <= entries, in_loop))
    return tuple(plans[: heuristics.MAX_PRIVATISED_BUFFERS])


def _positions_in_loops(program: ir.Program) -> frozenset[int]:
    """Positions of the statements in loops."""
    looped: set[int] = set()
    for position, statement in enumerate(walk_stmts(program.entry), 1):
        if isinstance(statement, (ir.Loop, ir.While)):
            looped.update(range(position, position + sum(1 for _ in walk_stmts(statement.body))))
    return frozenset(looped)


def _reach(ranges: Ranges, position: int, node: ir.Atomic) -> int:
    """Upper bound of the elements that an access reaches."""
    if isinstance(node.index, ir.Lit):
        return int(node.index.value) % (1 << 64) + 1
    known = ranges.interval(node.index, position)
    return known.high + 1 if known is not None and known.low >= 0 else 1 << 64


def reserve(kernel: Kernel, plans: tuple[ReductionPlan, ...]) -> str:
    """Allocate the private copies, before any other scratch memory; returns the header."""
    assert not kernel.scratch_bytes
    header = kernel.take_scratch(HEADER_BYTES)
    for plan in plans:
        size = plan.decl.element.size_bytes or 4
        pointer = kernel.take_scratch(plan.entries * size)
        kernel.kept[plan.decl.name] = PrivatisedReduction(plan, pointer, "")
    return header


def emit_privatised_reductions(kernel: Kernel, header: str) -> Callable[[], None]:
    """Emit the initialisation; returns a function that emits the combination.

    A call for no workgroups combines. The first word of a thread's memory is zero when it
    begins to work on a launch.
    """
    w = kernel.w
    hand, look, begin, ready = (w.fresh(n) for n in ("hand.over", "look", "begin", "ready"))
    w.branch(w.emit("icmp eq i64 %first, %last"), hand, look)
    w.block(look)
    state = w.emit(f"load i32, ptr {header}, align 64")
    w.branch(w.emit(f"icmp eq i32 {state}, 0"), begin, ready)
    w.block(begin)
    lanes = _invocations(kernel)
    for number, kept in enumerate(kernel.kept.values()):
        _begin(kernel, kept, _flag(kernel, header, number), lanes)
    w.do(f"store i32 1, ptr {header}, align 64")
    w.jump(ready)
    w.block(ready)
    for number, (name, kept) in enumerate(kernel.kept.items()):
        raw = w.emit(f"load i8, ptr {_flag(kernel, header, number)}, align 1")
        flag = w.emit(f"icmp ne i8 {raw}, 0")
        kernel.kept[name] = PrivatisedReduction(kept.plan, kept.pointer, flag)

    def end() -> None:
        w.block(hand)
        some, none = w.fresh("hand.some"), w.fresh("hand.none")
        had = w.emit(f"load i32, ptr {header}, align 64")
        w.branch(w.emit(f"icmp eq i32 {had}, 0"), none, some)
        w.block(some)
        w.do(f"store i32 0, ptr {header}, align 64")
        for number, kept in enumerate(kernel.kept.values()):
            _hand_over(kernel, kept, _flag(kernel, header, number))
        w.jump(none)
        w.block(none)
        w.leave()

    return end


def _flag(kernel: Kernel, header: str, number: int) -> str:
    return kernel.w.emit(f"getelementptr i8, ptr {header}, i64 {_FLAGS + number}")


def _invocations(kernel: Kernel) -> str:
    w = kernel.w
    x, y, z = (w.emit(f"zext i32 {extent} to i64") for extent in kernel.grid)
    groups = w.emit(f"mul i64 {w.emit(f'mul i64 {x}, {y}')}, {z}")
    return w.emit(f"mul i64 {groups}, {kernel.invocations}")


def _used(kernel: Kernel, kept: PrivatisedReduction) -> str:
    """The number of private elements in use, an i64."""
    count = kernel.memories[kept.plan.decl.name].count
    return kernel.w.intrinsic("umin", "i64", count, str(kept.plan.entries))


def _begin(kernel: Kernel, kept: PrivatisedReduction, flag: str, lanes: str) -> None:
    """Decide whether to privatise a buffer, and initialise the copy with identities."""
    w, plan = kernel.w, kept.plan
    used = _used(kernel, kept)
    factor = heuristics.REDUCTIONS_PER_LOOP if plan.in_loop else 1
    cost = w.emit(f"mul i64 {used}, {heuristics.MIN_INVOCATIONS_PER_ELEMENT}")
    worth = w.emit(f"icmp uge i64 {w.emit(f'mul i64 {lanes}, {factor}')}, {cost}")
    if not plan.reached:
        count = kernel.memories[plan.decl.name].count
        worth = w.emit(f"and i1 {worth}, {w.emit(f'icmp ule i64 {count}, {plan.entries}')}")
    w.do(f"store i8 {w.emit(f'zext i1 {worth} to i8')}, ptr {flag}, align 1")
    scalar = register_type(plan.decl.element)
    none = identity_of(plan.op, plan.decl.element)

    def clear(at: str) -> None:
        pointer = w.emit(f"getelementptr {scalar}, ptr {kept.pointer}, i64 {at}")
        w.do(f"store {scalar} {none}, ptr {pointer}, align {plan.decl.element.size_bytes}")

    _for_each(kernel, w.emit(f"select i1 {worth}, i64 {used}, i64 0"), clear)


def _hand_over(kernel: Kernel, kept: PrivatisedReduction, flag: str) -> None:
    """Combine the private copy with the buffer."""
    w, plan = kernel.w, kept.plan
    element = plan.decl.element
    scalar = register_type(element)
    held = w.emit(f"icmp ne i8 {w.emit(f'load i8, ptr {flag}, align 1')}, 0")
    none = identity_of(plan.op, element)
    memory = kernel.memories[plan.decl.name]
    name = plan.op.row.spelling.removeprefix("atomic_")
    if plan.op in (ir.AtomicOp.MIN, ir.AtomicOp.MAX) and not element.is_signed:
        name = f"u{name}"

    def join(at: str) -> None:
        own = w.emit(f"getelementptr {scalar}, ptr {kept.pointer}, i64 {at}")
        found = w.emit(f"load {scalar}, ptr {own}, align {element.size_bytes}")
        change, same = w.fresh("join"), w.fresh("joined")
        w.branch(w.emit(f"icmp eq {scalar} {found}, {none}"), same, change)
        w.block(change)
        pointer = w.emit(f"getelementptr {scalar}, ptr {memory.pointer}, i64 {at}")
        w.emit(f"atomicrmw {name} ptr {pointer}, {scalar} {found} monotonic")
        w.jump(same)
        w.block(same)

    _for_each(kernel, w.emit(f"select i1 {held}, i64 {_used(kernel, kept)}, i64 0"), join)


def _for_each(kernel: Kernel, count: str, action: Callable[[str], None]) -> None:
    w = kernel.w
    slot = w.slot("i64", "element")
    w.do(f"store i64 0, ptr {slot}")
    head, run, done = (w.fresh(n) for n in ("elements", "element", "elements.done"))
    w.block(head)
    at = w.emit(f"load i64, ptr {slot}")
    w.branch(w.emit(f"icmp ult i64 {at}, {count}"), run, done)
    w.block(run)
    action(at)
    w.do(f"store i64 {w.emit(f'add nuw i64 {at}, 1')}, ptr {slot}")
    w.jump(head)
    w.block(done)


__all__ = [
    "emit_privatised_reductions",
    "identity_of",
    "is_joining",
    "privatisable_reductions",
    "reserve",
]
