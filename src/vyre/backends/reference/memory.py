"""Memory: one array per buffer, and accesses that never leave it.

Workgroup memory and private arrays are one array too: instances of the same length behind one
another. An access tells the index inside its instance and where each invocation's instance begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.ir import BufferDecl
from vyre.semantics import Array, decode_function, encode_function, storage_dtype, value_dtype

if TYPE_CHECKING:
    from vyre.backends.reference.shadow import Shadow


class Cells:
    """The elements of one buffer, or of all instances of one on-chip buffer."""

    __slots__ = ("data", "decl", "decode", "encode", "length", "shadow")

    def __init__(self, decl: BufferDecl, data: Array, length: int) -> None:
        self.decl = decl
        self.data = data
        """Stored elements; a second axis holds the lanes of vectors."""
        self.length = length
        """Elements of one instance: an index from here on is out of bounds."""
        self.decode = decode_function(decl.element)
        self.encode = encode_function(decl.element)
        self.shadow: Shadow | None = None
        """What the sanitizer remembers of it."""

    @classmethod
    def zeros(cls, decl: BufferDecl, instances: int, length: int) -> Cells:
        """Fresh memory."""
        return cls(decl, empty_storage(decl, instances * length), length)

    def load(self, at: Array, base: Array | None) -> Array:
        """The values at these indices; zero where they are out of bounds."""
        outside = self.outside(at)
        if outside is not None:
            if self.length == 0:
                return self._zeros(at.size if base is None else max(at.size, base.size))
            at = np.where(outside, 0, at)
        stored = self.data[at if base is None else at + base]
        values = stored if self.decode is None else self.decode(stored)
        if outside is not None:
            values[outside if outside.size > 1 else slice(None)] = 0
        return values

    def _zeros(self, count: int) -> Array:
        return np.zeros((count, *self.data.shape[1:]), value_dtype(self.decl.value_type))

    def stored(self, at: Array, base: Array | None) -> Array:
        """What memory holds at these indices; where they are out of bounds, a stored zero."""
        outside = self.outside(at)
        zero = self._zeros(at.size)
        found = zero if self.encode is None else self.encode(zero)
        if outside is None:
            return self.data[at if base is None else at + base]
        inside = np.flatnonzero(~outside)
        found[inside] = self.data[at[inside] if base is None else (at + base)[inside]]
        return found

    def store(self, at: Array, base: Array | None, values: Array) -> None:
        """Put values at these indices, the later one where two are equal."""
        outside = self.outside(at)
        if base is not None:
            at = at + base
        if outside is not None:
            if outside.size == 1:
                return
            inside = ~outside
            at = at[inside]
            values = values[inside] if len(values) > 1 else values
        if at.size == 1:
            values = values[-1:]
        self.data[at] = values if self.encode is None else self.encode(values)

    def outside(self, at: Array) -> Array | None:
        """Which indices are out of bounds; None when none is."""
        # Negative indices read as unsigned are greater than any length.
        bits = at.view(np.uint64)
        if bits.size and int(bits.max()) < self.length:
            return None
        return bits >= np.uint64(self.length)


def as_index(index: Array) -> Array:
    """Indices of any integer type as signed 64-bit ones; unsigned ones that wrap stay outside."""
    return index.astype(np.int64)


def empty_storage(decl: BufferDecl, count: int) -> Array:
    """Zeroed memory for `count` elements of a buffer."""
    element = decl.element
    shape = (count, element.lanes) if element.is_vector else (count,)
    return np.zeros(shape, storage_dtype(element))
