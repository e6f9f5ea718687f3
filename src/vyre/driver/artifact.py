"""An artifact: a compiled program as bytes, with what is needed to load and to show it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import driver as codes
from vyre.record import dataclass
from vyre.signals import is_from_handler

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a backend emitted. `metadata` is plain JSON; `sources` are readable forms of it."""

    backend: str
    payload: bytes
    metadata: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """What `show` prints, by kind: `llvm`, `asm`, `wgsl`. Not kept in the cache."""

    def to_bytes(self) -> bytes:
        """Everything but the sources, as one string of bytes."""
        head = json.dumps(
            {"backend": self.backend, "metadata": self.metadata}, sort_keys=True
        ).encode()
        return len(head).to_bytes(4, "little") + head + self.payload

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Artifact:
        """What `to_bytes` wrote."""
        data = memoryview(data)
        size = int.from_bytes(data[:4], "little")
        try:
            head = json.loads(bytes(data[4 : 4 + size]))
            return cls(head["backend"], bytes(data[4 + size :]), head["metadata"])
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as problem:
            if is_from_handler(problem):
                raise
            raise BackendError(codes.BAD_ARTIFACT.at(problem=problem)) from problem
