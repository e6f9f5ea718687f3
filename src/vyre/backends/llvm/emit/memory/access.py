"""Loads and stores: every access stays inside its buffer.

An access that is not known to be in bounds is tested: once per vector where lanes are contiguous,
lane by lane otherwise.
"""

from __future__ import annotations

from vyre.backends.llvm.emit.memory.load import Loads
from vyre.backends.llvm.emit.memory.store import Stores


class MemoryAccess(Loads, Stores):
    """Emits accesses for one set of lanes."""
