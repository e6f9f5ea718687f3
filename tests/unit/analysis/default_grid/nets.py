"""What finds a wrong grid: a larger one gives another result, or elements are not reached."""

# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import linecache
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import numpy as np

import vyre as vy
from tests.unit.analysis.default_grid.random_guards import Writer
from vyre.analysis.default_grid.effects import Asked
from vyre.diagnostics import DispatchError, FrontError
from vyre.front import translation_cache
from vyre.runtime import kernel as kernels
from vyre.runtime.kernel_grid import launch_grid

Grid = tuple[int, int, int]


def kernel_from(source: str, name: str) -> Any:
    """The kernel `k` of a source text."""
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"vy": vy}
    exec(compile(source, name, "exec"), names)
    return names["k"]


def arguments_for(seed: int) -> list[Any]:
    """Arguments of a random kernel: extents of 5 and more, none like another."""
    rng = np.random.default_rng(seed)

    def length(end: int = 24) -> int:
        return int(rng.integers(5, end))

    return [
        length(),
        length(),
        rng.integers(0, 100, length()).astype(np.uint32),
        rng.integers(0, 100, (length(), length())).astype(np.uint32),
        np.zeros(length(), np.uint32),
        np.zeros((length(12), length(12)), np.uint32),
        np.zeros((length(9), length(9), length(9)), np.uint32),
        np.zeros(8, np.uint32),
    ]


def called(kernel: Any, args: list[Any], grid: Grid | None = None) -> Grid:
    """Call a kernel on the reference; the grid that it ran."""
    ran: list[Grid] = []

    def watched(*given: Any) -> Grid:
        ran.append(launch_grid(*given))
        return ran[-1]

    with patch.object(kernels, "launch_grid", watched):
        kernel.reference(*args, grid=grid, sanitize=False)
    return ran[0]


def source_of(seed: int) -> str:
    return Writer(seed).function()


def is_right(seed: int) -> bool | None:
    """Whether a random kernel gives the same with a larger grid; None if it must be told one.

    Also None for a kernel that is refused: the lesser of `len(x) - 2` and a `u32` has no type.
    """
    # What a planted bug makes of a kernel must not be remembered.
    with (
        patch.object(translation_cache, "find", lambda *_: None),
        patch.object(translation_cache, "keep", lambda *_: None),
    ):
        return _is_right(seed)


def _is_right(seed: int) -> bool | None:
    kernel = kernel_from(source_of(seed), f"<guards {seed}>")
    args = arguments_for(seed)
    try:
        grid = called(kernel, args)
    except (DispatchError, FrontError) as error:
        if error.code not in ("D009", "F062"):
            raise
        return None
    axes = Asked.of(kernel.program()).axes
    x, y, z = (2 * n + 1 if axis in axes else max(n, 1) for axis, n in enumerate(grid))
    others = arguments_for(seed)
    called(kernel, others, (x, y, z))
    return all(np.array_equal(one, other) for one, other in zip(args, others, strict=True))


def wrong_ones(seeds: Iterable[int]) -> Iterable[int]:
    """The random kernels whose default grid is wrong."""
    return (seed for seed in seeds if is_right(seed) is False)


@vy.kernel(workgroup=(4, 2, 3))
def visited(seen: vy.InOut[vy.u32, 3]):
    x, y, z = vy.gid(0), vy.gid(1), vy.gid(2)
    if x < seen.shape[2] and y < seen.shape[1] and z < seen.shape[0]:
        seen[z, y, x] += 1


def reaches_all_elements(elements: tuple[int, int, int]) -> bool:
    """True if each of the elements is visited once, and no workgroup more than is needed."""
    shape = tuple(-(-n // size) * size for n, size in zip(elements, (4, 2, 3), strict=True))
    seen = np.zeros([n + 5 for n in reversed(shape)], np.uint32)
    visited(seen, elements=elements, device="reference")
    x, y, z = shape
    return bool((seen[:z, :y, :x] == 1).all()) and int(seen.sum()) == x * y * z
