"""Buffers between guard pages: an access outside a buffer ends the process.

A buffer ends where the forbidden pages begin, or starts where they end. Buffers that a program only
reads cannot be written either.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from typing import Any, Literal

import numpy as np

from vyre.driver.backend import Argument
from vyre.ir import BufferDecl
from vyre.runtime import CompiledProgram
from vyre.runtime.host_arrays import as_host_array, element_count, zero_output
from vyre.runtime.host_types import as_host_arrays
from vyre.semantics import Array
from vyre.target import Feature, Target

Side = Literal["before", "behind"]
"""Which forbidden page a buffer touches."""

_NOTHING, _READ = 0, 1


def can_fence(target: Target) -> bool:
    """Whether a device works on memory of this process, and pages can be forbidden here."""
    return os.name == "posix" and target.has(Feature.HOST_MEMORY)


class Fence:
    """The bytes of one buffer, with a forbidden page before and one behind."""

    __slots__ = ("_first", "_inner", "view")

    def __init__(self, contents: Array, side: Side) -> None:
        page = mmap.PAGESIZE
        size = contents.nbytes
        room = max(size, 1)
        self._inner = max(page, -(-room // page) * page)
        whole = np.frombuffer(mmap.mmap(-1, self._inner + 2 * page), np.uint8)
        self._first = int(whole.__array_interface__["data"][0])
        start = page if side == "before" else page + self._inner - room
        self.view = whole[start : start + room]
        self.view[:size] = contents.reshape(-1).view(np.uint8)
        _protect(self._first, page, _NOTHING)
        _protect(self._first + page + self._inner, page, _NOTHING)

    def forbid_writes(self) -> None:
        """From now on, writing to the buffer ends the process, too."""
        _protect(self._first + mmap.PAGESIZE, self._inner, _READ)


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def _protect(start: int, size: int, rights: int) -> None:
    if _libc().mprotect(start, size, rights):
        raise OSError(ctypes.get_errno(), "the system does not let a page be forbidden")


def run_between_fences(
    compiled: CompiledProgram,
    inputs: dict[str, Array],
    grid: tuple[int, int, int],
    side: Side,
    deadline: float | None = None,
) -> dict[str, Array]:
    """Launch a program on fenced copies of its inputs; gives the outputs."""
    source = compiled.compilation.source
    own = [decl for decl in source.buffers if not (decl.is_on_chip or decl.is_scratch)]
    scratch = [decl for decl in compiled.program.buffers if decl.is_scratch]
    given = as_host_arrays(source, inputs)
    fences: dict[str, Fence] = {}
    arguments: dict[str, Argument] = {}
    outputs: dict[str, Array] = {}
    for decl in (*own, *scratch):
        contents = _contents(decl, given)
        fence = fences[decl.name] = Fence(contents, side)
        if decl.is_host_output and not decl.is_scratch:
            kept = fence.view[: contents.nbytes].view(contents.dtype)
            outputs[decl.name] = kept.reshape(contents.shape)
        elif not decl.is_writable:
            fence.forbid_writes()
        memory = compiled.route.device.adopt(fence.view.data)
        assert memory is not None, "the device said that it works on host memory"
        if hasattr(memory, "is_private"):
            # Mapped, but only once: what it holds may prove that tests are needless.
            setattr(memory, "is_private", True)  # noqa: B010
        arguments[decl.name] = Argument(memory, element_count(contents, decl))
    compiled.launch(arguments, grid, deadline)
    return {name: array.copy() for name, array in outputs.items()}


def _contents(decl: BufferDecl, inputs: dict[str, Array]) -> Array:
    if decl.name in inputs:
        return as_host_array(inputs[decl.name], decl)
    return zero_output(decl, decl.count)
