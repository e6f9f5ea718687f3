"""What the code generator hands to the runtime: an object file and what must be known to launch it.

The stored form is a magic word, the length of a JSON header, the header, the object: nothing in it can
run on reading, and a foreign or torn file is an error, never a guess.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import Any, Final, Self, cast

from vyre.backends.llvm.abi import ABI_VERSION
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import BAD_ARTIFACT

_MAGIC: Final = b"VYRELLVM"
_PREFIX: Final = struct.Struct("<8sI")


@dataclass(frozen=True, slots=True)
class BufferSlot:
    """One entry of the launch's buffer array."""

    name: str
    element_bytes: int
    writable: bool


@dataclass(frozen=True, slots=True)
class PrintFormat:
    """One print statement: its text with a `{}` for each argument, and the arguments' types."""

    text: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Artifact:
    """Machine code of one program for one kind of CPU."""

    object: bytes
    triple: str
    cpu: str
    buffers: tuple[BufferSlot, ...]
    workgroup_size: tuple[int, int, int]
    scratch_bytes: int = 0
    trap_tags: tuple[str, ...] = ()
    prints: tuple[PrintFormat, ...] = ()
    polls: bool = False
    """The kernel has loops of unknown length, which poll the stop flag."""
    divergent: bool = False
    """Workgroups may differ much in cost: claim work in smaller chunks."""
    group_cost_ns: int = 0
    """Estimated time of one workgroup; 0 when nothing is known."""

    def to_bytes(self) -> bytes:
        """The stored form."""
        header = asdict(self)
        del header["object"]
        header["abi"] = ABI_VERSION
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        return _PREFIX.pack(_MAGIC, len(text)) + text + self.object

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the stored form; BackendError when it is not one of this version."""
        if len(data) < _PREFIX.size:
            raise _bad("it is shorter than its own header")
        magic, length = _PREFIX.unpack_from(data)
        if magic != _MAGIC:
            raise _bad("it does not start with the artifact's magic word")
        body = _PREFIX.size + length
        if body > len(data):
            raise _bad("its header is cut off")
        try:
            header = json.loads(data[_PREFIX.size : body])
            return cls._from_header(header, data[body:])
        except (ValueError, KeyError, TypeError) as error:
            raise _bad(f"its header cannot be read ({error})") from error

    @classmethod
    def _from_header(cls, header: dict[str, Any], code: bytes) -> Self:
        version = header.pop("abi")
        if version != ABI_VERSION:
            raise _bad(f"it is of version {version}, this vyre reads {ABI_VERSION}")
        header["buffers"] = tuple(BufferSlot(**slot) for slot in header["buffers"])
        header["prints"] = tuple(
            PrintFormat(entry["text"], tuple(entry["arguments"])) for entry in header["prints"]
        )
        header["workgroup_size"] = cast("tuple[int, int, int]", tuple(header["workgroup_size"]))
        header["trap_tags"] = tuple(header["trap_tags"])
        return cls(object=code, **header)


def _bad(problem: str) -> BackendError:
    return BackendError(BAD_ARTIFACT.at(problem=problem))
