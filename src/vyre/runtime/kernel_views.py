"""Views with strides, used in place: transposed, sliced, reversed and broadcast arrays.

Where the device works on host memory, a kernel gets the memory that a view spans, the position of
its first element and the distances along its axes, and nothing is copied. Elsewhere, and where the
span of a view meets another array that is written, one copy stands in for the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from vyre.driver.backend import Device
from vyre.front.parameters import Layout
from vyre.ir.buffer import SHAPE, STRIDES
from vyre.record import dataclass
from vyre.runtime.clearing import RUN
from vyre.runtime.host_arrays import numbers, steps_overlap

Host = np.ndarray[Any, np.dtype[Any]]

_WRAPPED = 1 << 32


def place_views(
    views: Iterable[str], given: dict[str, object], written: Mapping[str, object], device: Device
) -> dict[str, Layout]:
    """Bind views in place where that is possible; how they lie in memory, by parameter."""
    layouts: dict[str, Layout] = {}
    for name in views:
        view: Host = cast("Host", given[name])
        found = view_form(view.shape, view.strides, view.dtype.itemsize)
        layout = None if found is None or not view.flags.aligned else found.layout
        if layout is None or _meets_another(name, given, written):
            continue
        assert found is not None
        span = _spanned(view)
        memory = device.adopt(span.view(np.uint8).data)
        if memory is None:
            continue
        memory.release()
        given[name] = span
        given[name + SHAPE] = numbers(view.shape)
        given[name + STRIDES] = found.steps
        layouts[name] = layout
    return layouts


def _meets_another(name: str, given: Mapping[str, object], written: Mapping[str, object]) -> bool:
    """Whether the span of a view holds a part of another array, and one of them is written."""
    view = cast("Host", given[name])
    others = [
        other
        for other_name, other in given.items()
        if other_name != name and (name in written or other_name in written)
    ]
    arrays = [cast("Host", other) for other in others if isinstance(other, np.ndarray)]
    return any(np.may_share_memory(view, array) for array in arrays)


@dataclass(frozen=True, slots=True)
class ViewForm:
    """What the shape and the strides of a view say."""

    layout: Layout
    steps: Host
    """The position of its first element in its span, and the distances along its axes."""
    repeats: bool
    """Whether elements share memory."""
    pieces: tuple[tuple[int, int, int, int], ...] | None
    """Its elements as runs of bytes in its span: the first byte, the bytes, how often, and the
    distance between; None if these are many."""


_MOST_PIECES = 64


@lru_cache(maxsize=512)
def view_form(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> ViewForm | None:
    """The form of a view, aligned; None if no whole numbers of elements say where they lie."""
    if 0 in shape or any(step % size for step in strides):
        return None
    reach = sum(abs(step) * (n - 1) for n, step in zip(shape, strides, strict=True))
    if reach // size + 1 >= _WRAPPED:
        return None
    start = sum(-step * (n - 1) for n, step in zip(shape, strides, strict=True) if step < 0)
    steps = tuple(step // size % _WRAPPED for step in (start, *strides))
    is_rows = strides[-1] == size and len(shape) > 1
    layout = Layout.ROWS if is_rows else Layout.STRIDED
    repeats = steps_overlap(shape, strides, size)
    return ViewForm(layout, numbers(steps), repeats, _pieces(shape, strides, size))


def _pieces(
    shape: tuple[int, ...], strides: tuple[int, ...], size: int
) -> tuple[tuple[int, int, int, int], ...] | None:
    """The bytes of a view, from its lowest on; one axis repeats, the others are written out."""
    axes = [(abs(step), n) for n, step in zip(shape, strides, strict=True) if n > 1]
    axes.sort()
    length = size
    while axes and axes[0][0] == length:
        length *= axes.pop(0)[1]
    distance, often = axes.pop(0) if axes else (length, 1)
    firsts = [0]
    for step, n in axes:
        if len(firsts) * n > _MOST_PIECES:
            return None
        firsts = [first + step * k for first in firsts for k in range(n)]
    return tuple((first, length, often, distance) for first in firsts)


@lru_cache(maxsize=512)
def clearing_of_view(
    shape: tuple[int, ...], strides: tuple[int, ...], size: int, place: int
) -> bytes:
    """The runs that zero a view, which has the place of a buffer in a launch: `packed_runs`."""
    form = view_form(shape, strides, size)
    assert form is not None
    assert form.pieces is not None
    return b"".join(RUN.pack(place, *piece) for piece in form.pieces)


def _spanned(view: Host) -> Host:
    """All memory from the lowest element of a view to the highest."""
    size = view.dtype.itemsize
    reach = sum(abs(step) * (n - 1) for n, step in zip(view.shape, view.strides, strict=True))
    lowest = tuple(slice(-1, None) if step < 0 else slice(0, 1) for step in view.strides)
    count = reach // size + 1
    return as_strided(view[lowest], (count,), (size,), writeable=view.flags.writeable)
