"""Arrays that stay on a device between dispatches."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import routing
from vyre.driver.backend import Argument, Device, DeviceMemory
from vyre.runtime.copies import read_back, upload
from vyre.runtime.host_arrays import NO_VIEW, HostArray, host_view
from vyre.runtime.memory_pool import MemoryPool, pool_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class DeviceArray:
    """An array in the memory of a device.

    `numpy()` copies it to the host, `write()` copies into it. It frees itself when it is collected,
    when `free()` is called, and at the end of a `with` block.
    """

    __slots__ = (
        *("__weakref__", "_finalizer", "_pool"),
        *("argument", "device", "dtype", "is_free", "shape"),
    )

    def __init__(self, device: Device, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
        self.device = device
        self.shape = tuple(shape)
        self.dtype = dtype
        self.is_free = False
        """Whether its memory has been given back."""
        self._pool = pool_of(device)
        memory = self._pool.take(max(self.nbytes, 1))
        self.argument = Argument(memory, self.size)
        self._finalizer = weakref.finalize(self, _give_back, self._pool, memory)

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

    def memory(self) -> DeviceMemory:
        """Its memory; an error if that has been given back."""
        if self.is_free:
            raise ArgumentError(codes.FREED_ARRAY.at(array=repr(self)))
        return self.argument.memory

    def numpy(self) -> HostArray:
        """Its contents as a new numpy array."""
        host = np.empty(self.shape, self.dtype)
        if host.nbytes:
            read_back(self.device, [(host, self.memory())])
        return host

    def write(self, value: object) -> None:
        """Replace its contents with those of a host array of the same size."""
        host = np.ascontiguousarray(np.asarray(value, self.dtype))
        if host.size != self.size:
            raise ArgumentError(
                codes.SHORT_BUFFER.at(name="array", expected=self.size, found=host.size)
            )
        if host.nbytes:
            upload(self.memory(), host)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        host = self.numpy()
        return host if dtype is None else host.astype(dtype)

    def __dlpack__(self, **options: Any) -> object:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def free(self) -> None:
        """Give its memory back now."""
        self.is_free = True
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.free()


def array(value: object, device: str | None = None, dtype: DTypeLike | None = None) -> DeviceArray:
    """An array on a device with the contents of a host array."""
    host: HostArray
    try:
        is_foreign = hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__")
        host = np.asarray(host_view(value) if is_foreign else value, dtype)
    except NO_VIEW as problem:
        found = f"{type(value).__name__} ({problem})"
        raise ArgumentError(codes.NOT_AN_ARRAY.at(name="array", found=found)) from problem
    made = DeviceArray(routing.choose(device).device, host.shape, host.dtype)
    made.write(host)
    return made


def zeros(shape: int | Sequence[int], dtype: DTypeLike, device: str | None = None) -> DeviceArray:
    """An array of zeros on a device."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    return DeviceArray(routing.choose(device).device, extents, np.dtype(dtype))


def _give_back(pool: MemoryPool, memory: DeviceMemory) -> None:
    pool.give(memory)
