"""Where a trap of a kernel stands in the source."""

from __future__ import annotations

from dataclasses import replace

from vyre.diagnostics import Location, TrapError
from vyre.ir import Program


def located(error: TrapError, program: Program) -> TrapError:
    """The same error with the line that raised it; devices only know the tag.

    An error stays as it is if several traps of the program have its tag.
    """
    from vyre.ir.stmt import Trap
    from vyre.ir.walk import walk_stmts

    traps = [one for one in walk_stmts(program.entry) if isinstance(one, Trap)]
    spans = {trap.span for trap in traps if trap.tag == error.tag}
    if len(spans) != 1:
        return error
    (span,) = spans
    if span is None:
        return error
    found = replace(error.diagnostics[0], location=Location(span=span))
    placed = TrapError(found, error.tag, error.invocation)
    placed.printed = error.printed
    return placed
