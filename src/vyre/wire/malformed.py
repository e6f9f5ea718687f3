"""What is wrong with bytes, said where it is noticed, before the offset is known."""

from __future__ import annotations

from vyre.diagnostics import Code, WireError
from vyre.wire.envelope import failure


class Malformed(Exception):
    """What is wrong with the bytes; the caller that has the offset makes a `WireError` of it."""

    def __init__(self, code: Code, **values: object) -> None:
        super().__init__(code.code)
        self.code = code
        self.values = values

    def at(self, offset: int) -> WireError:
        """The error at an offset of the bytes."""
        return failure(self.code, offset, **self.values)
