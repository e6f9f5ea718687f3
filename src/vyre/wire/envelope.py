"""What goes around a stored program: a magic number, the version, the length and the digest.

| bytes | meaning |
| 8  | magic; a transfer that changes line ends or cuts the eighth bit breaks it |
| 2  | version |
| 2  | flags, none defined yet |
| 8  | length of the payload |
| 32 | digest of the payload: BLAKE2b, 32 bytes |
| .. | payload |

Numbers are little-endian.
"""

from __future__ import annotations

import struct

from vyre.diagnostics import Code, Location, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.digests import blake2b

MAGIC = b"\x89VYB\r\n\x1a\n"
VERSION = 1
_HEAD = struct.Struct("<8sHHQ32s")
HEAD_SIZE = _HEAD.size


def failure(code: Code, offset: int, **values: object) -> WireError:
    """The error with this code at an offset of the bytes."""
    return WireError(code.at(Location(path=f"byte {offset}"), (), **values), offset)


def payload_digest(payload: bytes | bytearray) -> bytes:
    """The digest that the head of a stored program holds."""
    return blake2b(payload, digest_size=32).digest()


def seal(payload: bytes | bytearray, magic: bytes = MAGIC) -> bytes:
    """The payload with its head."""
    return _HEAD.pack(magic, VERSION, 0, len(payload), payload_digest(payload)) + payload


def open_envelope(data: bytes, magic: bytes = MAGIC) -> bytes:
    """The payload of `data`, if its head is right and its digest matches."""
    if data[:8] != magic:
        raise failure(codes.NOT_A_PROGRAM, 0)
    if len(data) < HEAD_SIZE:
        raise failure(codes.TRUNCATED, len(data), what="the head")
    _, version, flags, length, stated = _HEAD.unpack_from(data)
    if version != VERSION or flags:
        raise failure(codes.UNKNOWN_VERSION, 8, version=version, flags=int(flags), known=VERSION)
    payload = data[HEAD_SIZE:]
    if len(payload) != length:
        raise failure(codes.WRONG_LENGTH, 12, stated=length, found=len(payload))
    if payload_digest(payload) != stated:
        raise failure(codes.WRONG_DIGEST, 20)
    return payload
