"""vyre: compute kernels in Python, checked, optimised, and run on whatever device is there."""

from __future__ import annotations

from vyre.config import vyre_version
from vyre.diagnostics import VyreError
from vyre.ir import services as _services

_services.bind(
    print="vyre.text:to_text",
    parse="vyre.text:parse",
    statement_line="vyre.text:statement_line",
    expr_text="vyre.text:expr_text",
    to_wire="vyre.wire:to_wire",
    from_wire="vyre.wire:from_wire",
    digest="vyre.wire:digest",
    check="vyre.check:check",
    validate="vyre.check:validate",
)

__all__ = ["VyreError"]
__version__ = vyre_version()
