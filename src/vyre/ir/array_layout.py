"""Conventions for arrays in programs: layout buffers, and the index of no element.

The extents of the array in buffer `a` are the elements of the uniform buffer `a.shape`, its strides
those of `a.strides`. The front end declares these buffers, the runtime fills them, and analyses
recognise them by name.
"""

from __future__ import annotations

SHAPE, STRIDES = ".shape", ".strides"
"""Suffixes of layout buffers."""
NO_ELEMENT = 0xFFFF_FFFF
"""A `u32` index beyond every buffer: loads give zero and stores do nothing."""


def is_layout(buffer: str) -> bool:
    """True if a buffer holds extents or strides, which no kernel changes."""
    return buffer.endswith((SHAPE, STRIDES))


__all__ = ["NO_ELEMENT", "SHAPE", "STRIDES", "is_layout"]
