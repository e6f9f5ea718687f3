"""The strip-mined loop along x, with an optional overlapping last step; its cold remainder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.emit.outline_cold_code import OutlinedRegion
from vyre.backends.llvm.techniques import Technique

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.llvm.emit.builder import Builder
    from vyre.backends.llvm.emit.context import Kernel


def emit_steps(
    w: Builder,
    slot: str,
    limit: str,
    step: int,
    emit: Callable[[str, str], None],
    *,
    again: bool = False,
) -> None:
    """Emit a loop that advances x while a whole step fits.

    The slot holds x, which ends at the limit at most. With `again`, the last step ends at the limit
    and overlaps lanes that have run.
    """
    head, run, end, done = (w.fresh(n) for n in ("row", "row.lanes", "row.next", "row.done"))
    last = limit if step == 1 else w.intrinsic("usub.sat", "i32", limit, str(step - 1))
    if again and step > 1:
        _emit_steps_again(w, slot, limit, step, last, emit)
        return
    w.block(head)
    now = w.emit(f"load i32, ptr {slot}", "x")
    more = w.emit(f"icmp ult i32 {now}, {last}")
    w.branch(more, run, done)
    w.block(run)
    emit(now, end)
    w.block(end)
    following = w.emit(f"add nuw i32 {now}, {step}")
    w.do(f"store i32 {following}, ptr {slot}")
    w.jump(head)
    w.block(done)


def _emit_steps_again(
    w: Builder,
    slot: str,
    limit: str,
    step: int,
    last: str,
    emit: Callable[[str, str], None],
) -> None:
    """Emit the loop whose last step is moved back to the limit.

    It is counted as if the last step went beyond the limit.
    """
    run, end, over, done = (w.fresh(n) for n in ("row", "row.next", "row.over", "row.done"))
    start = w.emit(f"load i32, ptr {slot}")
    final = w.emit(f"sub i32 {limit}, {step}")
    w.branch(w.emit(f"icmp ult i32 {start}, {last}"), run, done)
    w.block(run)
    now = w.emit(f"load i32, ptr {slot}", "x")
    emit(w.intrinsic("umin", "i32", now, final), end)
    w.block(end)
    # The increment after the last step might wrap, but its value is not used.
    following = w.emit(f"add nuw i32 {now}, {step}")
    w.do(f"store i32 {following}, ptr {slot}")
    w.branch(w.emit(f"icmp ult i32 {now}, {final}"), run, over)
    w.block(over)
    w.do(f"store i32 {limit}, ptr {slot}")
    w.block(done)


def emit_outlined(kernel: Kernel, slot: str, end: str, emit: Callable[[str], None]) -> None:
    """Emit cold code that advances an index in a slot.

    The index reaches `end` at most; few lanes run here.
    """
    w = kernel.w
    if kernel.thorough or not kernel.allows(Technique.OUTLINE_COLD_CODE):
        emit(slot)
        return
    now = w.emit(f"load i32, ptr {slot}")
    label, done = w.fresh("aside"), w.fresh("aside.done")
    w.branch(w.emit(f"icmp ult i32 {now}, {end}"), label, done)
    around, w.lines, kernel.aside = w.lines, [], True
    w.block(label)
    own = w.slot("i32", "x")
    w.do(f"store i32 {now}, ptr {own}")
    emit(own)
    reached = w.emit(f"load i32, ptr {own}", "reached")
    inside, w.lines, kernel.aside = w.lines, around, False
    after = [f"  store i32 {reached}, ptr {slot}", f"  br label %{done}"]
    mark = f"; {label}"
    w.lines.append(mark)
    kernel.asides[mark] = OutlinedRegion(label, inside[1:], reached, after)
    w.open = False
    w.block(done)
