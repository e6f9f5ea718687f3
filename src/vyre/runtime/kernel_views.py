"""Views with strides, used in place: transposed, sliced, reversed and broadcast arrays.

Where the device works on host memory, a kernel gets the memory that a view spans, the position of
its first element and the distances along its axes, and nothing is copied. Elsewhere, and where the
span of a view meets another array that is written, one copy stands in for the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from vyre.driver.backend import Device
from vyre.front.parameters import Layout
from vyre.ir.buffer import SHAPE, STRIDES
from vyre.runtime.host_arrays import numbers

Host = np.ndarray[Any, np.dtype[Any]]

_WRAPPED = 1 << 32


def place_views(
    views: Iterable[str], given: dict[str, object], written: Mapping[str, object], device: Device
) -> dict[str, Layout]:
    """Bind views in place where that is possible; how they lie in memory, by parameter."""
    layouts: dict[str, Layout] = {}
    for name in views:
        view: Host = cast("Host", given[name])
        layout = _layout(view)
        if layout is None or _meets_another(name, given, written):
            continue
        span, steps = _spanned(view)
        memory = device.adopt(span.view(np.uint8).data)
        if memory is None:
            continue
        memory.release()
        given[name] = span
        given[name + SHAPE] = numbers(view.shape)
        given[name + STRIDES] = numbers(steps)
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


def _layout(view: Host) -> Layout | None:
    """How a view lies in memory; None if no whole numbers of elements say it."""
    size = view.dtype.itemsize
    if not view.size or not view.flags.aligned or any(step % size for step in view.strides):
        return None
    if _extent(view) >= _WRAPPED:
        return None
    return Layout.ROWS if view.strides[-1] == size and view.ndim > 1 else Layout.STRIDED


def _extent(view: Host) -> int:
    """How many elements lie between the first and the last in memory, with both."""
    reach = sum(abs(step) * (n - 1) for n, step in zip(view.shape, view.strides, strict=True))
    return reach // view.dtype.itemsize + 1


def _spanned(view: Host) -> tuple[Host, tuple[int, ...]]:
    """All memory from the lowest element of a view to the highest, and where its elements are."""
    size = view.dtype.itemsize
    lowest = tuple(slice(-1, None) if step < 0 else slice(0, 1) for step in view.strides)
    span = as_strided(view[lowest], (_extent(view),), (size,), writeable=view.flags.writeable)
    pairs = zip(view.shape, view.strides, strict=True)
    start = sum(-step * (n - 1) for n, step in pairs if step < 0)
    steps = (start, *view.strides)
    return span, tuple(step // size % _WRAPPED for step in steps)
