"""Async copies in both directions, inside and across the ends of buffers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.edge_values import edge_array
from vyre.conform.suite.storage import PACKED
from vyre.conform.suite.texts import written
from vyre.ir.types import SCALAR_TYPES

_AREA = "async copies"


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in SCALAR_TYPES:
        values = np.resize(edge_array(dtype), 100)
        data = values.view(np.bool_) if dtype.is_bool else values
        for start, count in ((0, 32), (10, 5), (90, 32), (100, 8), (3, 0)):
            yield _load(str(dtype), data, start, count)
            yield _store(str(dtype), data, start, count)
    codes = np.resize(np.arange(256, dtype=np.uint8), 100)
    # Of `nf4`, zero bits are not the number zero.
    for dtype in PACKED:
        for start, count in ((0, 32), (90, 32)):
            yield _load(str(dtype), codes, start, count)
    yield _two_at_once()


def _load(
    dtype: str, data: np.ndarray[tuple[int], np.dtype[np.generic]], start: int, count: int
) -> Trial:
    """Into workgroup memory; what lies beyond the source arrives as zeros."""
    text = f"""
    program workgroup(32, 1, 1)

    buffer v: read_only {dtype}[100] @0
    buffer out: read_write {dtype}[64] @1 output live_out
    buffer tile: workgroup {dtype}[40]

    region "load" {{
        async_load "in" tile[2] <- v[{start}u32 + wid.x], {count}
        async_wait "in"
        out[gid.x] = tile[lid.x]
    }}
    """
    name = f"load {count} of {dtype} from {start}"
    return written(_AREA, name, text, {"v": data}, (2, 1, 1))


def _store(
    dtype: str, data: np.ndarray[tuple[int], np.dtype[np.generic]], start: int, count: int
) -> Trial:
    """Out of workgroup memory; what lies beyond the destination is dropped."""
    text = f"""
    program workgroup(16, 1, 1)

    buffer v: read_only {dtype}[100] @0
    buffer out: read_write {dtype}[100] @1 output live_out
    buffer tile: workgroup {dtype}[20]

    region "store" {{
        tile[lid.x] = v[lid.x]
        barrier acq_rel
        async_store "out" out[{start}u32] <- tile[1], {count}
        async_wait "out"
    }}
    """
    name = f"store {count} of {dtype} at {start}"
    return written(_AREA, name, text, {"v": data}, (1, 1, 1))


def _two_at_once() -> Trial:
    """Two copies under way, waited for in the opposite order."""
    text = """
    program workgroup(64, 1, 1)

    buffer a: read_only u32[128] @0
    buffer b: read_only u32[128] @1
    buffer out: read_write u32[128] @2 output live_out
    buffer first: workgroup u32[64]
    buffer second: workgroup u32[64]

    region "two" {
        async_load "a" first[0] <- a[wid.x * 64], 64
        async_load "b" second[0] <- b[wid.x * 64], 64
        async_wait "b"
        let right = second[63 - lid.x]
        async_wait "a"
        out[gid.x] = first[lid.x] * 1000 + right
    }
    """
    a, b = np.arange(128, dtype=np.uint32), np.arange(128, dtype=np.uint32) + 500
    turned = b.reshape(2, 64)[:, ::-1].reshape(-1)
    expected = {"out": a * 1000 + turned}
    return written(_AREA, "two at once", text, {"a": a, "b": b}, (2, 1, 1), expected)
