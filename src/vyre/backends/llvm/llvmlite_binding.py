"""The one door to llvmlite, which is slow to import and carries no types."""

from __future__ import annotations

from functools import cache
from typing import Any

from vyre.locks import hold_while_forking


@cache
def binding() -> Any:
    """The module `llvmlite.binding`, imported when first needed."""
    import llvmlite.binding

    # Others may have LLVM at work as well: all of them go through one lock of llvmlite.
    lock = getattr(getattr(llvmlite.binding.ffi.lib, "_lock", None), "_lock", None)
    if hasattr(lock, "acquire"):
        hold_while_forking(lock)
    return llvmlite.binding
