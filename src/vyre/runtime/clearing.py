"""Filling the arrays with zeros that begin so: the last thing that is done before a launch.

A call that is refused must not have changed anything, so what is to be cleared is only noted while
arguments are looked at.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray

Host = np.ndarray[Any, np.dtype[Any]]
Cut = tuple[slice, ...]
Cuts = tuple[Cut, ...]
"""Parts of an array, each as an index: all along the first axes, then a slice."""
ALL: Final[Cuts] = ((),)
_MANY_BYTES: Final = 1 << 20
RUN: Final = struct.Struct("=5q")


@dataclass(frozen=True, slots=True)
class Out:
    """An array that begins as zeros."""

    array: Host | DeviceArray
    """The caller's own."""
    cuts: Cuts
    """What of it has to be cleared: all but the elements that are surely written."""


Outs = Mapping[str, Out]
"""By buffer."""
NO_OUTS: Final[Outs] = {}


def clear(array: Host | DeviceArray, cuts: Cuts) -> None:
    """Fill parts of an array with zeros."""
    if not cuts:
        return
    if isinstance(array, DeviceArray):
        held = array.hold()
        view = None if cuts == ALL else held.memory.host_view()
        if view is None:
            held.memory.zero()
            return
        array = np.frombuffer(view, array.dtype, math.prod(array.shape)).reshape(array.shape)
    if cuts == ALL and array.nbytes >= _MANY_BYTES and array.flags.forc:
        # Twice as quick as numpy, which reads every line before it fills it.
        ctypes.memset(array.ctypes.data, 0, array.nbytes)
        return
    for cut in cuts:
        array[cut] = 0


def packed_runs(parts: Iterable[tuple[int, Sequence[int], int, Cuts]]) -> bytes:
    """Parts of arrays as runs of bytes, as a backend takes them that clears before it launches.

    Each array is given by its place among the buffers, its shape and the size of an element. A run
    is five numbers: the buffer, the first byte, the bytes, how often, and the distance between.
    """
    made = bytearray()
    for place, shape, size, cuts in parts:
        for cut in cuts:
            axis = max(len(cut) - 1, 0)
            extent = shape[axis] if cut else 1
            first, end, _ = cut[axis].indices(extent) if cut else (0, 1, 1)
            inner = math.prod(shape[axis + 1 :] if cut else shape) * size
            repeats = math.prod(shape[:axis])
            made += RUN.pack(place, first * inner, (end - first) * inner, repeats, extent * inner)
    return bytes(made)


def run_of_all(place: int, nbytes: int) -> bytes:
    """The run of a whole array."""
    return RUN.pack(place, 0, nbytes, 1, nbytes)


def runs_around(
    place: int, size: int, shape: Sequence[int], box: Sequence[tuple[int, int]]
) -> bytes:
    """The runs of an array around a box that is written; of all of it if the box is small."""
    count = written = 1
    for extent, (first, end) in zip(shape, box, strict=True):
        count *= extent
        written *= end - first
    if 2 * written < count:
        return run_of_all(place, count * size)
    made = b""
    repeats, inner = 1, count * size
    for extent, (first, end) in zip(shape, box, strict=True):
        outer, inner = inner, inner // extent
        if first:
            made += RUN.pack(place, 0, first * inner, repeats, outer)
        if end < extent:
            made += RUN.pack(place, end * inner, (extent - end) * inner, repeats, outer)
        repeats *= extent
    return made


__all__ = [
    "ALL",
    "NO_OUTS",
    "Cut",
    "Cuts",
    "Out",
    "Outs",
    "clear",
    "packed_runs",
    "run_of_all",
    "runs_around",
]
