"""Safepoints: where a kernel looks whether it is to stop, because of a deadline or a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel


def emit_poll(kernel: Kernel) -> None:
    """Emit a safepoint: return from the kernel if the stop flag is set."""
    w = kernel.w
    kernel.polls = True
    flag = w.emit("load atomic i32, ptr %control monotonic, align 4", "stop")
    go = w.emit(f"icmp eq i32 {flag}, 0")
    leave, stay = w.fresh("stopped"), w.fresh("running")
    w.branch(go, stay, leave, likely=True)
    w.block(leave)
    w.leave()
    w.block(stay)
