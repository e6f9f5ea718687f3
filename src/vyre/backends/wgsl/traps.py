"""Traps in WGSL: the first one is written down for the host, and its invocation stops.

An invocation stops by returning. Where the program has barriers that is not possible: WGSL wants
all invocations to arrive at each. There a trapped invocation leaves the loops that hold no barrier
and goes on to the end; what it still does is of no consequence, as the host reports the trap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vyre import ir
from vyre.backends.wgsl.context import Context
from vyre.emit import Writer
from vyre.ir.walk import walk_stmts

RECORD = "trap_record"
"""The buffer that the host reads: number of the tag plus one, and the invocation's id."""
RECORD_WORDS = 4
LOOP_ENDED = "\0loop ended by the driver"
"""A tag of our own; those of programs are printable."""


class Traps:
    """What is known about the traps of a program while it is written."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.tags: list[str] = []
        statements = list(walk_stmts(ctx.program.entry))
        self.any = any(isinstance(s, ir.Trap) for s in statements)
        self.returns = not any(isinstance(s, (ir.Barrier, ir.AsyncWait)) for s in statements)
        self._loops: list[bool] = []
        """For each loop around the present place, whether a trapped invocation may leave it."""

    def declare(self, out: Writer) -> None:
        """Variables at the start of the entry point."""
        if self.any and not self.returns:
            out.line("var trapped = false;")

    def write(self, tag: str, out: Writer) -> None:
        """Record the trap and stop."""
        out.line(f"raise_trap({self.number(tag)}u, gid);  // {tag}")
        if self.returns:
            out.line("return;")
            return
        out.line("trapped = true;")
        if self._loops and self._loops[-1]:
            out.line("break;")

    def number(self, tag: str) -> int:
        """What stands for a tag in a call of `raise_trap`, which also takes `gid`."""
        if tag not in self.tags:
            self.tags.append(tag)
        self.ctx.builtins.add("gid")
        return self.tags.index(tag) + 1

    @contextmanager
    def loop(self, body: ir.Body) -> Iterator[None]:
        """While the body of a loop is written."""
        self._loops.append(not _has_barrier(body))
        yield
        self._loops.pop()

    def after_loop(self, body: ir.Body, out: Writer) -> None:
        """Leave the next loop too, if a trap inside left this one."""
        leaves = bool(self._loops) and self._loops[-1] and not self.returns
        if leaves and any(isinstance(s, ir.Trap) for s in walk_stmts(body)):
            with out.block("if (trapped)"):
                out.line("break;")

    def write_function(self, out: Writer) -> None:
        """The function that records a trap, unless another one came first."""
        with out.block("fn raise_trap(tag: u32, invocation: vec3<u32>)"):
            exchange = f"atomicCompareExchangeWeak(&{RECORD}[0], 0u, tag)"
            with out.block("loop"):
                out.line(f"let tried = {exchange};")
                with out.block("if (tried.exchanged)"):
                    for axis, name in enumerate("xyz"):
                        out.line(f"atomicStore(&{RECORD}[{axis + 1}], invocation.{name});")
                with out.block("if (tried.exchanged || tried.old_value != 0u)"):
                    out.line("return;")


def _has_barrier(body: ir.Body) -> bool:
    return any(isinstance(s, (ir.Barrier, ir.AsyncWait)) for s in walk_stmts(body))
