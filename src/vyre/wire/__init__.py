"""Programs as bytes: `to_wire` writes the canonical form, `from_wire` reads nothing else."""

from __future__ import annotations

from vyre.wire.decode import from_wire
from vyre.wire.encode import digest, to_wire
from vyre.wire.files import load, save

__all__ = ["digest", "from_wire", "load", "save", "to_wire"]
