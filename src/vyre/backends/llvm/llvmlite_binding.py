"""The only import of llvmlite, which is slow to import and untyped."""

from __future__ import annotations

from functools import cache
from typing import Any

from vyre.locks import hold_while_forking


@cache
def binding() -> Any:
    """The module `llvmlite.binding`, imported when first needed."""
    import llvmlite.binding

    # Other libraries may run LLVM as well: all of them take one lock of llvmlite.
    lock = getattr(getattr(llvmlite.binding.ffi.lib, "_lock", None), "_lock", None)
    if hasattr(lock, "acquire"):
        hold_while_forking(lock)
    return llvmlite.binding
