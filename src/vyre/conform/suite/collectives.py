"""Collectives over one device: once for the grid, whatever its invocations do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite.case import Grid, Trial
from vyre.conform.suite.texts import written
from vyre.semantics import Array

_AREA = "grid sync"
_GRID = (4, 1, 1)
_HEAD = """\
program workgroup(4, 1, 1)

buffer a: read_write u32[16] @0
buffer b: read_write u32[16] @1 output live_out
buffer hidden: scratch u32[5]
"""
_GIVEN = np.arange(16, dtype=np.uint32) * 3 + 1
_OWN = np.arange(16, dtype=np.uint32) + 10
_ZEROS = np.zeros(16, np.uint32)


def trials() -> Iterator[Trial]:
    """Collectives alone, after all have returned, and over buffers of other lengths."""
    yield _trial("nothing but an all_gather", "all_gather a -> b", _GIVEN, _GIVEN)
    yield _trial("nothing but a reduce_scatter", "reduce_scatter add a -> b", _GIVEN, _GIVEN)
    yield _trial("nothing but an all_reduce", "all_reduce max a", _GIVEN, _ZEROS)
    yield _trial("nothing but a broadcast", "broadcast a from 0", _GIVEN, _ZEROS)
    yield _trial("an all_gather of a buffer to itself", "all_gather a -> a", _GIVEN, _ZEROS)
    yield _trial("nothing but a grid sync", "barrier grid_sync", _GIVEN, _ZEROS)
    yield _trial("nothing but grid syncs", "barrier grid_sync\nbarrier grid_sync", _GIVEN, _ZEROS)
    yield _trial("a loop of grid syncs", "for k in 0..5 { barrier grid_sync }", _GIVEN, _ZEROS)
    yield _trial(
        "a while of grid syncs",
        "let k = 0\nwhile k < a[0] + 2 { barrier grid_sync\n k = k + 1 }",
        _GIVEN,
        _ZEROS,
    )
    yield _trial("an all_gather on an empty grid", "all_gather a -> b", _GIVEN, _GIVEN, (0, 1, 1))
    yield from _after_returns()
    yield from _lengths()


def _trial(name: str, body: str, a: Array, b: Array, grid: Grid = _GRID) -> Trial:
    expected = {"a": a, "b": b}
    return written(_AREA, name, f"{_HEAD}\n{body}\n", {"a": _GIVEN}, grid, expected)


def _after_returns() -> Iterator[Trial]:
    """What follows is not executed, but for the collectives in it."""
    ways = {
        "a return": "return",
        "a return in a region": 'region "r" { return }',
        "a return in blocks": "{ { return } }",
        "a return that all take": "if a[gid.x] < 1000 { return }",
        "returns by halves": "if gid.x < 7 { return }\nbarrier grid_sync\nif gid.x >= 7 { return }",
    }
    for name, leave in ways.items():
        for what in ("all_gather a -> b", "reduce_scatter add a -> b"):
            body = f"a[gid.x] = gid.x + 10\n{leave}\n{what}\nb[gid.x] = 0\n"
            yield _trial(f"{what.split()[0]} after {name}", body, _OWN, _OWN)
    body = """
hidden[gid.x] = gid.x + 10
return
region "later" {
    all_gather hidden -> b
    b[gid.x] = 7
    all_gather b -> a
}
"""
    b = np.concatenate([_OWN[:5], _ZEROS[5:]])
    yield _trial("two of them in a region after a return", body, b, b)


def _lengths() -> Iterator[Trial]:
    """As many elements are copied as both buffers have, and no byte more."""
    body = "hidden[gid.x] = gid.x + 10\nall_gather hidden -> a\n"
    a = np.concatenate([_OWN[:5], _GIVEN[5:]])
    yield _trial("an all_gather of scratch memory", body, a, _ZEROS)
    for source, destination in ((3, 10), (10, 3), (7, 7), (1, 64)):
        text = f"""\
program workgroup(16, 1, 1)

buffer a: read_write u8[{source}] @0
buffer b: read_write u8[{destination}] @1

a[gid.x] = 7u8
all_gather a -> b
"""
        both = min(source, destination)
        ends = {
            "a": np.full(source, 7, np.uint8),
            "b": np.array([7] * both + [9] * (destination - both), np.uint8),
        }
        given = {"a": np.ones(source, np.uint8), "b": np.full(destination, 9, np.uint8)}
        name = f"an all_gather of {source} bytes to {destination}"
        yield written(_AREA, name, text, given, (1, 1, 1), ends)
