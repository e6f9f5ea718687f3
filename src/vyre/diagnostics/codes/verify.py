"""B4##: a device and the reference disagree."""

from __future__ import annotations

from vyre.diagnostics.codes.row import Code

DIFFERS = Code(
    "B401",
    "result that differs from the reference",
    "{name} on {device} differs from the reference: {difference}",
    "replay it: vyre run {reproducer} --device {device}; and please report it with that folder",
)

CODES = (DIFFERS,)
