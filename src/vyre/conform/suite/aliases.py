"""One host array under several names: as inputs, as two halves, and where it must be refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from vyre.conform.suite.case import Ending, Trial
from vyre.conform.suite.texts import written
from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.ir.types import SCALAR_TYPES
from vyre.semantics import Array, storage_dtype

_AREA = "memory"
_COUNT = 100


def trials() -> Iterator[Trial]:
    """All of them."""
    for dtype in SCALAR_TYPES:
        data = (np.arange(_COUNT + 1) % 2).astype(storage_dtype(dtype))
        yield _turned(str(dtype), data.view(np.bool_) if dtype.is_bool else data)
    data = np.arange(2 * _COUNT, dtype=np.int32)
    yield _product("one array as two inputs", data[:_COUNT], data[:_COUNT])
    yield _product("views of one array that overlap", data[:_COUNT], data[3 : _COUNT + 3])
    yield _product("an array and itself backwards", data[:_COUNT], data[:_COUNT][::-1])
    yield _changed("an array read and changed, results apart", data, data)
    halves = np.arange(2 * _COUNT, dtype=np.int32)
    yield _changed("halves in place", halves[:_COUNT], halves[_COUNT:], in_place=True)
    yield _refused("one array read and written in place", data, data)
    yield _refused("views that overlap, one written in place", data[:_COUNT], data[1 : _COUNT + 1])


def _turned(dtype: str, data: Array) -> Trial:
    """Two views that lie one element apart, so that one of them is aligned to nothing."""
    text = f"""
    program workgroup(32, 1, 1)

    buffer a: read_only {dtype}[] @0
    buffer b: read_only {dtype}[] @1
    buffer out: read_write {dtype}[{_COUNT}] @2 output live_out

    out[gid.x] = select(gid.x % 3 == 0, a[gid.x], b[{_COUNT - 1} - gid.x])
    """
    first, second = data[:-1], data[1:]
    every_third = np.arange(_COUNT) % 3 == 0
    expected = {"out": np.where(every_third, first, second[::-1])}
    name = f"views of {dtype} one element apart"
    return written(_AREA, name, text, {"a": first, "b": second}, (4, 1, 1), expected)


def _product(name: str, a: Array, b: Array) -> Trial:
    text = f"""
    program workgroup(32, 1, 1)

    buffer a: read_only i32[] @0
    buffer b: read_only i32[] @1
    buffer out: read_write i32[{_COUNT}] @2 output live_out

    out[gid.x] = a[gid.x] * b[{_COUNT - 1} - gid.x]
    """
    expected = {"out": a * b[::-1]}
    return written(_AREA, name, text, {"a": a, "b": b}, (4, 1, 1), expected)


_ADDED = """
program workgroup(32, 1, 1)

buffer a: read_only i32[] @0
buffer b: read_write i32[] @1

if gid.x < len(b) {
    b[gid.x] = b[gid.x] * 3i32 + a[len(a) - 1 - gid.x]
}
"""


def _changed(name: str, a: Array, b: Array, *, in_place: bool = False) -> Trial:
    grid = (-(-b.size // 32), 1, 1)
    inputs: Mapping[str, Array] = {"a": a, "b": b}
    expected = {"b": b * 3 + a[::-1]}
    return written(_AREA, name, _ADDED, inputs, grid, expected, in_place=in_place)


def _refused(name: str, a: Array, b: Array) -> Trial:
    ending = Ending(ArgumentError, codes.ALIASED.code)
    inputs: Mapping[str, Array] = {"a": a, "b": b}
    return written(_AREA, name, _ADDED, inputs, (4, 1, 1), ending=ending, in_place=True)
