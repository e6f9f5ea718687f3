"""Arrays that stay on a device between dispatches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import Device, DeviceMemory
from vyre.runtime.conversions import contents, known_type
from vyre.runtime.copies import read_back, upload
from vyre.runtime.host_views import HostArray, is_raw
from vyre.runtime.memory_pool import Held, pool_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_MOST = 1 << 60
_NEW = "make a new one: vy.array(x)"
_NO_VIEW = "a vyre array is not in numpy's memory, and cannot be had without a copy: x.numpy()"


class DeviceArray:
    """An array in the memory of a device.

    `numpy()` copies it to the host, `write()` copies into it. A copy (`copy.copy`) is a new array
    on the same device, and so is what `pickle` loads, where there is that device. It frees itself
    when it is collected, when `free()` is called, and at the end of a `with` block; a launch that
    uses it then still has its memory until it ends.
    """

    __slots__ = ("__weakref__", "device", "dtype", "flat", "held", "shape")

    def __init__(
        self,
        device: Device,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        held: Held | None = None,
    ) -> None:
        self.device = device
        self.shape = tuple(shape)
        self.dtype = dtype
        pool = pool_of(device)
        self.held: Held | None = held or Held(pool, pool.take(max(self.nbytes, 1)))
        """Its memory; users keep a reference to this meanwhile. None when it has been freed."""
        self.flat: HostArray | None = None
        """What `in_place` gives, once it has been asked for."""

    @property
    def is_free(self) -> bool:
        """Whether its memory has been given back."""
        return self.held is None

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    @property
    def nbytes(self) -> int:
        """How many bytes it holds."""
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        state = "freed" if self.is_free else f"on {self.device.info.id}"
        return f"<vyre array {self.dtype.name}{list(self.shape)} {state}>"

    def hold(self) -> Held:
        """Its memory, kept as long as the result is; an error if it has been given back."""
        held = self.held
        if held is None:
            raise ArgumentError(codes.FREED_ARRAY.at(array=repr(self)))
        return held

    def memory(self) -> DeviceMemory:
        """Its memory, which is its own only as long as it is not freed; see `hold`."""
        return self.hold().memory

    def numpy(self) -> HostArray:
        """Its contents as a new numpy array."""
        held = self.hold()
        host = np.empty(self.shape, self.dtype)
        if host.nbytes:
            read_back(self.device, [(host, held.memory)])
        return host

    def write(self, value: object) -> None:
        """Replace its contents with those of a host array of the same shape, or with bytes.

        Numbers of another type are taken where this one holds them: floats are rounded, but do not
        become infinite or whole numbers, and whole numbers do not wrap.
        """
        held = self.hold()
        host = contents(value, self.dtype)
        if host.size != self.size:
            expected, found = f"{self.size} elements", f"{host.size}"
            raise ArgumentError(codes.WRONG_SIZE.at(expected=expected, found=found, fix=_NEW))
        if not is_raw(value) and _without_ones(host.shape) != _without_ones(self.shape):
            fix = f"say how to cut them, as x.reshape({self.shape}) does, or {_NEW}"
            expected, found = f"the shape {self.shape}", f"contents of the shape {host.shape}"
            raise ArgumentError(codes.WRONG_SIZE.at(expected=expected, found=found, fix=fix))
        if host.nbytes:
            upload(held.memory, np.ascontiguousarray(host))

    def __copy__(self) -> DeviceArray:
        return array(self.numpy(), self.device.info.id)

    def __deepcopy__(self, memo: object) -> DeviceArray:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return array, (self.numpy(), self.device.info.id)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        if copy is False:
            raise ValueError(_NO_VIEW)
        host = self.numpy()
        return host if dtype is None else host.astype(dtype)

    def __dlpack__(self, **options: Any) -> object:
        if options.get("copy") is False:
            raise BufferError(_NO_VIEW)
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def free(self) -> None:
        """Give its memory back now, or when the last launch that uses it ends."""
        self.held = None
        self.flat = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.free()


def in_place(array: DeviceArray, held: Held) -> HostArray:
    """Elements of an array in a row, where they are: on a device that shares memory with the host.

    `held` is the memory of the array, which the caller keeps as long as it uses the result.
    """
    flat = array.flat
    if flat is None:
        view = held.memory.host_view()
        assert view is not None
        flat = np.frombuffer(view, array.dtype, array.size)
        if array.held is held:  # another thread may have freed it
            array.flat = flat
    return flat


def array(value: object, device: str | None = None, dtype: DTypeLike | None = None) -> DeviceArray:
    """An array on a device with the contents of a host array.

    With `dtype` its numbers are converted, if that type holds them: floats are rounded, but do not
    become infinite or whole numbers, and whole numbers do not wrap.
    """
    host = contents(value, None if dtype is None else known_type(dtype))
    made = DeviceArray(routing.choose(device).device, host.shape, host.dtype)
    made.write(host)
    return made


def zeros(shape: int | Sequence[int], dtype: DTypeLike, device: str | None = None) -> DeviceArray:
    """An array of zeros on a device."""
    return DeviceArray(
        routing.choose(device).device, _extents(shape), known_type(dtype, is_empty=True)
    )


def _without_ones(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape without the axes that hold one element, which change nothing about the order."""
    return tuple(extent for extent in shape if extent != 1)


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    is_array = hasattr(shape, "dtype") and getattr(shape, "ndim", 0)
    is_many = isinstance(shape, (list, tuple, range)) or is_array
    given: tuple[Any, ...] = tuple(cast("Iterable[Any]", shape)) if is_many else (shape,)
    try:
        extents = tuple(map(index, given))
    except TypeError as problem:
        raise _no_shape(shape) from problem
    # Not even an array without elements has an axis, or all axes together, longer than this.
    longest = prod(max(extent, 1) for extent in extents)
    is_wrong = any(isinstance(each, bool) for each in given) or any(each < 0 for each in extents)
    if is_wrong:
        raise _no_shape(shape)
    if longest >= _MOST:
        problem, fix = "too large for an array", "make it smaller: no memory holds 2**60 elements"
        raise ArgumentError(codes.BAD_SHAPE.at(found=repr(shape), problem=problem, fix=fix))
    return extents


def _no_shape(shape: object) -> ArgumentError:
    fix = "give whole numbers that are not negative, one for each axis: (3, 4)"
    problem = "not the shape of an array"
    return ArgumentError(codes.BAD_SHAPE.at(found=repr(shape), problem=problem, fix=fix))
