"""Which loaded floats a driver may know at compile time.

It forwards what an invocation stored to the load that follows, and so sees the number or the sum
that was stored. Behind a barrier it does not: others may have stored there. Memory of one
invocation it knows from the start, and uniform memory it may look into before it compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vyre import ir
from vyre.backends.wgsl.memory import Buffer, Space
from vyre.backends.wgsl.value import Seen
from vyre.ir.walk import walk_stmts


class KnownContents:
    """Follows the statements of a program as they are written."""

    def __init__(self) -> None:
        self._stored: set[str] = set()
        """Buffers with stores since the last barrier."""

    def seen(self, buffer: Buffer, *, may_be_outside: bool) -> Seen:
        """What a driver may see in an element, now; outside of the buffer that is a zero."""
        if buffer.space is Space.PRIVATE or buffer.decl.name in self._stored:
            return Seen.ALL
        is_known = buffer.space is Space.UNIFORM or may_be_outside
        return Seen.NUMBER if is_known else Seen.NOTHING

    def store(self, buffer: str) -> None:
        """An invocation stores to a buffer."""
        self._stored.add(buffer)

    def barrier(self) -> None:
        """All invocations of a workgroup have arrived."""
        self._stored.clear()

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Statements that may not be executed: what was known before them still is."""
        before = set(self._stored)
        yield
        self._stored |= before

    @contextmanager
    def loop(self, body: ir.Body) -> Iterator[None]:
        """The body of a loop, which begins where it ended the last time."""
        stored = _stored_in(body)
        at_end = stored if _goes_on_early(body) else _stored_after_barriers(body)
        with self.branch():
            self._stored |= at_end
            yield
        # It may have been left anywhere.
        self._stored |= stored


def _stored_in(body: ir.Body) -> set[str]:
    found: set[str] = set()
    for statement in walk_stmts(body):
        if isinstance(statement, ir.Store):
            found.add(statement.buffer)
        elif isinstance(statement, (ir.AsyncLoad, ir.AsyncStore)):
            found.add(statement.destination)
    return found


def _stored_after_barriers(body: ir.Body) -> set[str]:
    places = [k for k, s in enumerate(body) if isinstance(s, (ir.Barrier, ir.AsyncWait))]
    return _stored_in(body[places[-1] + 1 :] if places else body)


def _goes_on_early(body: ir.Body) -> bool:
    return any(isinstance(statement, ir.Continue) for statement in walk_stmts(body))
