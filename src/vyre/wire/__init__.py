"""Programs as bytes: `to_wire` writes the canonical form, `from_wire` reads nothing else."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vyre.wire.decode import from_wire
    from vyre.wire.encode import digest, to_wire
    from vyre.wire.files import load, save

__all__ = ["digest", "from_wire", "load", "save", "to_wire"]

_HOME = {
    "digest": "encode",
    "from_wire": "decode",
    "load": "files",
    "save": "files",
    "to_wire": "encode",
}
"""Where each name is: a program's digest, on the way of every first launch, needs no reader."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
