"""Checks that loops end by their condition, on drivers that end them too early.

Such a driver continues after the loop without an error. So a loop sets a flag when it is left by
its condition or a break; one that is left without is reported to the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vyre import ir
from vyre.backends.wgsl.context import Context
from vyre.backends.wgsl.traps import LOOP_ENDED, Traps
from vyre.emit import Writer
from vyre.target import Limits

_PRELUDE_ROUNDS = 32
"""The most rounds of a loop in the prelude: they count against the same limit."""


class EndedLoops:
    """The loops around the place that is being written, and how each says that it ended."""

    def __init__(self, ctx: Context, traps: Traps) -> None:
        self._ctx = ctx
        self._traps = traps
        self.watched = _may_be_cut(ctx)
        self._flags: list[str] = []

    @contextmanager
    def loop(self, out: Writer) -> Iterator[None]:
        """While a loop is written."""
        if not self.watched:
            yield
            return
        flag = self._ctx.names.fresh("ended")
        out.line(f"var {flag} = false;")
        self._flags.append(flag)
        yield
        self._flags.pop()
        with out.block(f"if (!{flag})"):
            out.line(
                f"raise_trap({self._traps.number(LOOP_ENDED)}u, gid);  // the driver left the loop"
            )

    def leave(self, out: Writer) -> None:
        """A break out of the innermost loop, by the program or by the loop's condition."""
        if self._flags:
            out.line(f"{self._flags[-1]} = true;")
        out.line("break;")


def _may_be_cut(ctx: Context) -> bool:
    limit = ctx.target.limits.max_loop_rounds
    if limit == Limits().max_loop_rounds:
        return False
    most = _most_rounds(ctx.program.entry)
    return most is None or most * (1 + _PRELUDE_ROUNDS) > limit


def _most_rounds(body: ir.Body) -> int | None:
    """The most rounds that an invocation makes; None if the bounds do not say."""
    total = 0
    for statement in body:
        rounds = 0
        if isinstance(statement, ir.While):
            return None
        if isinstance(statement, ir.Loop):
            start, stop = statement.start, statement.stop
            if not isinstance(start, ir.Lit) or not isinstance(stop, ir.Lit):
                return None
            rounds = max(0, int(stop.value) - int(start.value))
        for name in statement.body_fields:
            inner = _most_rounds(getattr(statement, name))
            if inner is None:
                return None
            total += rounds * (1 + inner) if isinstance(statement, ir.Loop) else inner
    return total
