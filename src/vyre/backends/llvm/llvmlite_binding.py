"""The one door to llvmlite, which is slow to import and carries no types."""

from __future__ import annotations

from typing import Any


def binding() -> Any:
    """The module `llvmlite.binding`, imported when first needed."""
    import llvmlite.binding

    return llvmlite.binding
