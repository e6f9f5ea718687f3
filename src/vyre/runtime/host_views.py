"""Values of the host as numpy arrays on the same memory.

Numpy arrays are what they are. Other values are asked for their memory by the protocols that they
have: `__array_interface__`, DLPack, the buffer protocol. Some only have `__array__`, which may give
a copy; what a kernel writes would then be lost, so a value is asked twice where it matters.
"""

from __future__ import annotations

import mmap
from array import array as python_array
from typing import Any, Final, cast

import numpy as np

HostArray = np.ndarray[Any, np.dtype[Any]]

NO_VIEW: Final = (TypeError, ValueError, BufferError, RuntimeError)
"""What libraries raise that cannot show an array of theirs as memory of the host."""

_BYTES: Final = (bytes, bytearray, mmap.mmap)
"""Memory of Python without a type of its own."""


class Masked(TypeError):
    """An array that says of some of its elements that they are not there."""


def host_view(value: object) -> HostArray:
    """Any array-like of the host as a numpy array on the same memory; raises one of `NO_VIEW`.

    Of a value that has only `__array__` it may be a copy: see `is_copy`.
    """
    if isinstance(value, np.ndarray):
        return _plain_class(cast("HostArray", value))
    given = cast("Any", value)
    if hasattr(given, "__array_interface__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return _from_dlpack(given)
    try:
        view = memoryview(given)
    except TypeError:
        if not hasattr(given, "__array__"):
            raise
        return _plain_class(np.asarray(given))
    return np.asarray(view)


def _plain_class(array: HostArray) -> HostArray:
    """An array without what its class adds to it: other ways to assign, axes that never go."""
    if type(array) is np.ndarray:
        return array
    if isinstance(array, np.ma.MaskedArray):
        raise Masked("a kernel does not see which elements are masked")
    return array.view(np.ndarray)


def _from_dlpack(given: Any) -> HostArray:
    found: HostArray = np.from_dlpack(given)
    if not found.flags.writeable and hasattr(given, "__array__"):
        # Older exporters cannot say that their memory may be written; their own view can.
        own: HostArray = np.asarray(given)
        if own.flags.writeable and np.shares_memory(own, found):
            return own
    return found


def is_copy(value: object, view: HostArray) -> bool:
    """Whether the view of a value is a copy: the value gives another one when it is asked again."""
    if isinstance(value, (np.ndarray, *_BYTES, memoryview, python_array)) or not view.size:
        return False
    return not np.may_share_memory(view, host_view(value))


def in_numpy(value: object, name: str) -> str:
    """How a value is written as an array of numpy on the same memory, to use its methods."""
    if isinstance(value, np.ndarray):
        return name
    given = cast("Any", value)
    if any(hasattr(given, one) for one in ("__array_interface__", "__array__")):
        return f"np.asarray({name})"
    try:
        memoryview(given).release()
    except TypeError:
        return f"np.from_dlpack({name})" if hasattr(given, "__dlpack__") else f"np.asarray({name})"
    return f"np.asarray({name})"


def is_raw(value: object) -> bool:
    """Whether a value is bytes that do not say of what type they are.

    A `memoryview` is, of such a value or by `cast`; one of an array of numbers of 8 bits is not.
    """
    if isinstance(value, _BYTES):
        return True
    if not isinstance(value, memoryview) or value.format != "B":
        return False
    owner: Any = value.obj
    return owner is None or isinstance(owner, _BYTES) or memoryview(owner).format != "B"


__all__ = ["NO_VIEW", "HostArray", "Masked", "host_view", "in_numpy", "is_copy", "is_raw"]
