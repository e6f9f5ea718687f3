"""Grids of one to three dimensions with uneven tails, every id, and grids read from memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written

_AREA = "grids"
_SHAPES = (
    ((1, 1, 1), (1, 1, 1)),
    ((64, 1, 1), (3, 1, 1)),
    ((64, 1, 1), (1, 5, 1)),
    ((64, 1, 1), (1, 1, 5)),
    ((7, 1, 1), (11, 1, 1)),
    ((1, 1, 1), (100, 1, 1)),
    ((8, 8, 1), (3, 2, 1)),
    ((5, 3, 1), (4, 7, 1)),
    ((1, 32, 1), (9, 1, 2)),
    ((4, 4, 4), (2, 3, 2)),
    ((3, 5, 2), (3, 2, 4)),
    ((1, 1, 64), (2, 2, 2)),
    ((256, 1, 1), (40, 1, 1)),
    ((16, 16, 1), (5, 5, 1)),
)
_EXTENTS = ((1000, 1, 1), (257, 3, 1), (33, 17, 1), (5, 6, 7), (1, 1, 130))


def trials() -> Iterator[Trial]:
    """The whole area."""
    for size, grid in _SHAPES:
        for what in ("gid", "lid", "wid", "num_workgroups"):
            yield _ids(what, size, grid)
    for extent in _EXTENTS:
        for size in ((64, 1, 1), (8, 8, 1), (4, 4, 4), (32, 2, 1)):
            yield _guarded(extent, size)
    yield _indirect((3, 2, 1))
    yield _indirect((0, 1, 1))
    yield _empty()


def _ids(what: str, size: tuple[int, int, int], grid: tuple[int, int, int]) -> Trial:
    """Three numbers per invocation, each where it belongs."""
    extent = tuple(g * s for g, s in zip(grid, size, strict=True))
    total = extent[0] * extent[1] * extent[2]
    text = f"""
    program workgroup{size}

    buffer out: read_write u32[{3 * total}] @0 output live_out

    region "ids" {{
        let me = gid.x + (gid.y + gid.z * {extent[1]}) * {extent[0]}
        out[me * 3] = {what}.x
        out[me * 3 + 1] = {what}.y
        out[me * 3 + 2] = {what}.z
    }}
    """
    z, y, x = (axis.reshape(-1) for axis in np.indices(extent[::-1]))
    place = np.stack([x, y, z], axis=1)
    known = {
        "gid": place,
        "lid": place % np.array(size),
        "wid": place // np.array(size),
        "num_workgroups": np.broadcast_to(np.array(grid), place.shape),
    }[what]
    expected = {"out": known.astype(np.uint32).reshape(-1)}
    return written(_AREA, f"{what} of {size} in {grid}", text, {}, grid, expected)


def _guarded(extent: tuple[int, int, int], size: tuple[int, int, int]) -> Trial:
    """Workgroups that stick out at the ends do nothing there."""
    grid = tuple(-(-e // s) for e, s in zip(extent, size, strict=True))
    total = extent[0] * extent[1] * extent[2]
    x, y, z = extent
    text = f"""
    program workgroup{size}

    buffer out: read_write u32[{total}] @0 output live_out
    buffer visits: read_write u32[1] @1 output live_out

    region "guarded" {{
        if (gid.x < {x}) & (gid.y < {y}) & (gid.z < {z}) {{
            let me = gid.x + (gid.y + gid.z * {y}) * {x}
            out[me] = out[me] + me + 1
            eval atomic_add(visits[0], 1)
        }}
    }}
    """
    expected = {
        "out": np.arange(1, total + 1, dtype=np.uint32),
        "visits": np.array([total], np.uint32),
    }
    name = f"{extent} elements in workgroups of {size}"
    return written(_AREA, name, text, {}, (grid[0], grid[1], grid[2]), expected)


def _indirect(grid: tuple[int, int, int]) -> Trial:
    """The grid is read from a buffer; what the call says does not count."""
    text = """
    program workgroup(8, 1, 1)

    buffer shape: read_only u32[5] @0
    buffer out: read_write u32[64] @1 output live_out

    indirect_dispatch shape[1]
    out[gid.x + gid.y * 24] = num_workgroups.x * 10 + num_workgroups.y
    """
    x, y, _ = grid
    out = np.zeros(64, np.uint32)
    out[: 24 * y if x else 0] = x * 10 + y
    shape = np.array([9, *grid, 9], np.uint32)
    return written(
        _AREA, f"grid {grid} from a buffer", text, {"shape": shape}, (1, 1, 1), {"out": out}
    )


def _empty() -> Trial:
    """A grid of no workgroups leaves zeros behind."""
    text = """
    program workgroup(8, 1, 1)

    buffer out: read_write u32[8] @0 output live_out

    out[gid.x] = 1
    """
    return written(_AREA, "an empty grid", text, {}, (0, 1, 1), {"out": np.zeros(8, np.uint32)})
