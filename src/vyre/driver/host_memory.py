"""Whose memory an array of the host lies in, and whether a file shows it under two addresses.

A file or a shared segment can be mapped twice, and then no comparison of addresses shows that two
arrays share memory. What the system says of its mappings does.
"""

from __future__ import annotations

import mmap
import weakref
from array import array as python_array
from typing import Any, Final, NamedTuple, cast

import numpy as np

from vyre.signals import is_from_handler

_PRIVATE: Final = (bytes, bytearray, python_array)
"""Objects of Python with memory of their own."""
_MAPS: Final = "/proc/self/maps"


class FilePlace(NamedTuple):
    """Where a mapping begins in its file."""

    device: str
    inode: str
    offset: int
    is_shared: bool
    """Whether others see what is written to it."""


def owner_of(array: object) -> object:
    """What memory belongs to at last: an array without a base, or what is not an array."""
    # Every array of a dispatch comes by here, and a cast is a call.
    owner: Any = array
    base: Any = array
    while base is not None:
        owner = base
        if isinstance(base, np.ndarray):
            base = base.base
        elif isinstance(base, memoryview):
            base = base.obj
        else:
            base = _lent_to(base)
    return owner


def _lent_to(holder: Any) -> object:
    """What an object that is no array has its memory from: None if that is its own, or unknown."""
    if hasattr(holder, "base") and type(holder).__module__.startswith("numpy.lib."):
        return holder.base  # what `as_strided` puts between a view and its array
    kind: object = cast("object", type(holder))
    if type(kind).__module__ != "_ctypes":
        return None
    # It keeps what `from_buffer` was given.
    kept: Any = holder._objects
    views: list[Any] = [*kept.values()] if type(kept) is dict else []
    return views[0] if len(views) == 1 and type(views[0]) is memoryview else None


def is_private(array: object) -> bool:
    """Whether memory surely belongs to one array, and nothing else has it under another address."""
    owner: Any = owner_of(array)
    if isinstance(owner, np.ndarray):
        return bool(owner.flags.owndata)
    return isinstance(owner, _PRIVATE)


def share_a_file(written: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether writing an array changes another one through the file that both are mapped from."""
    if written.base is None or other.base is None:  # memory of its own
        return False
    one, two = owner_of(written), owner_of(other)
    if not isinstance(one, mmap.mmap) or not isinstance(two, mmap.mmap) or one is two:
        return False
    here, there = _place_of(one), _place_of(two)
    if here is None or there is None or here[:2] != there[:2] or not here.is_shared:
        return False
    first, end = _within(written, one)
    other_first, other_end = _within(other, two)
    apart = here.offset - there.offset
    return first + apart < other_end and other_first < end + apart


_places: weakref.WeakKeyDictionary[mmap.mmap, FilePlace | None] = weakref.WeakKeyDictionary()
"""Of mappings that were asked for: a mapping may move in memory, never in its file."""


def _place_of(mapped: mmap.mmap) -> FilePlace | None:
    """Where a mapping begins in its file; None if the system does not tell."""
    if mapped not in _places:
        _places[mapped] = _find_place(_address(mapped))
    return _places[mapped]


def _address(mapped: mmap.mmap) -> int:
    return int(np.frombuffer(mapped, np.uint8).__array_interface__["data"][0])


def _within(array: np.ndarray[Any, Any], mapped: mmap.mmap) -> tuple[int, int]:
    """The first byte of a mapping that an array has, and the end."""
    low, high = np.lib.array_utils.byte_bounds(array)
    start = _address(mapped)
    return low - start, high - start


def _find_place(address: int) -> FilePlace | None:
    try:
        with open(_MAPS, encoding="utf-8", errors="replace") as file:
            for line in file:
                where, rights, offset, device, inode, *_ = line.split(maxsplit=5)
                first, end = (int(part, 16) for part in where.split("-"))
                if first <= address < end:
                    begin = int(offset, 16) + address - first
                    return FilePlace(device, inode, begin, "s" in rights)
    except (OSError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        return None
    return None


__all__ = ["is_private", "owner_of", "share_a_file"]
