"""Bounds-checked loads and stores.

An access that is not proven to be in bounds is checked: once per vector where lanes are contiguous,
lane by lane otherwise.
"""

from __future__ import annotations

from vyre.backends.llvm.emit.memory.load import Loads
from vyre.backends.llvm.emit.memory.store import Stores


class MemoryAccess(Loads, Stores):
    """Emits accesses for one set of lanes."""
