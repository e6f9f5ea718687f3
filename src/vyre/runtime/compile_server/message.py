"""The wire format of the compile server: a length, then the bytes; and requests."""

from __future__ import annotations

import json
from typing import Protocol

from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.record import dataclass

_LENGTH = 8
_PIECE = 1 << 16
MADE = b"+"
REFUSED = b"-"
"""How an answer begins: before a compiled program, and before a sentence that says why not."""


class Sink(Protocol):
    """Where messages go; a pipe may take less than it is given."""

    def write(self, data: memoryview, /) -> int | None:
        """How much of it was taken."""
        ...


class Source(Protocol):
    """Where messages come from; a pipe may give less than it is asked for."""

    def read(self, size: int, /) -> bytes | None:
        """The next bytes; none at the end."""
        ...


def send(sink: Sink, message: bytes) -> None:
    """Write a message."""
    rest = memoryview(len(message).to_bytes(_LENGTH, "little") + message)
    while rest:
        rest = rest[sink.write(rest) or 0 :]


def receive(source: Source) -> bytes:
    """The next message; `EOFError` if the other side has gone."""
    return _exactly(source, int.from_bytes(_exactly(source, _LENGTH), "little"))


def _exactly(source: Source, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        # Memory is not set aside for more than there is, whatever the length claims.
        more = source.read(min(count - len(parts), _PIECE))
        if not more:
            raise EOFError
        parts += more
    return bytes(parts)


@dataclass(frozen=True, slots=True)
class Request:
    """A program to compile."""

    program: bytes
    """In wire form."""
    device: str
    options: CompileOptions
    is_hot: bool
    """Whether measured times say so: then selection grants more passes."""
    key: str
    """Under which the cache keeps the answer; the other process must find the same one."""

    def to_bytes(self) -> bytes:
        """A line of JSON and the program."""
        emit = self.options.emit
        head = {
            "device": self.device,
            "profile": self.options.profile,
            "verify": self.options.verify,
            "tier": emit.tier,
            "values": dict(emit.values),
            "is_hot": self.is_hot,
            "key": self.key,
        }
        return json.dumps(head).encode() + b"\n" + self.program

    @classmethod
    def from_bytes(cls, data: bytes) -> Request:
        """What `to_bytes` wrote."""
        line, _, program = data.partition(b"\n")
        head = json.loads(line)
        emit = EmitOptions(head["tier"], head["values"])
        options = CompileOptions(head["profile"], emit, head["verify"])
        return cls(program, head["device"], options, head["is_hot"], head["key"])
