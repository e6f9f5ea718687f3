"""Arguments for the kernels in plain/: enough work that every loop and branch is taken."""

import numpy as np

from benchmarks.executed import Launch
from benchmarks.programs import groups

ELEMENTS = 4_096
SIDE = 32
"""Rows and columns of the matrices."""
LARGE, LARGE_SIDE = 1 << 20, 256
"""The same where launches are timed."""


def launches(elements: int = ELEMENTS, side: int = SIDE) -> dict[str, Launch]:
    """By kernel."""
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 1 << 32, elements, dtype=np.uint32)
    floats = rng.standard_normal(elements, dtype=np.float32)
    matrices = rng.standard_normal((2, side * side), dtype=np.float32)
    zeros = np.zeros(elements, np.uint32)
    return {
        "bfs_step": _bfs(rng, elements),
        "byte_decoder": Launch(
            {"text": rng.integers(0, 256, 16 * elements, dtype=np.uint8), "words": zeros},
            (groups(elements, 64), 1, 1),
        ),
        "colours": Launch(
            {"pixels": numbers, "bright": zeros, "vivid": zeros}, (groups(elements, 64), 1, 1)
        ),
        "histogram": Launch(
            {
                "keys": rng.integers(0, 256, elements, dtype=np.uint8),
                "counts": np.zeros(256, np.uint32),
            },
            (groups(elements, 256), 1, 1),
        ),
        "matmul": Launch(
            {
                "a": matrices[0],
                "b": matrices[1],
                "c": np.zeros(side * side, np.float32),
                "size": np.array([side], np.uint32),
                "scale": np.array([0.5], np.float32),
            },
            (groups(side, 16), groups(side, 16), 1),
        ),
        "median": Launch({"samples": numbers, "smooth": zeros}, (groups(elements, 64), 1, 1)),
        "pipeline": Launch(
            {"x": floats, "y": np.zeros_like(floats), "z": np.zeros_like(floats)},
            (groups(elements, 64), 1, 1),
        ),
        "reduction": Launch(
            {"values": numbers, "total": np.zeros(1, np.uint32)}, (groups(elements, 1024), 1, 1)
        ),
        "scanner": Launch(
            {
                "text": numbers,
                "classes": rng.integers(0, 256, 256, dtype=np.uint32),
                "matches": zeros,
            },
            (groups(elements, 64), 1, 1),
        ),
        "stencil": Launch(
            {
                "field": floats,
                "weights": rng.standard_normal(8, dtype=np.float32),
                "out": np.zeros_like(floats),
            },
            (groups(elements, 64), 1, 1),
        ),
    }


def _bfs(rng: np.random.Generator, elements: int) -> Launch:
    """A random graph of eight edges to a node, one node in eight reached."""
    level = np.full(elements, 0xFFFFFFFF, np.uint32)
    level[rng.random(elements) < 1 / 8] = 3
    return Launch(
        {
            "offsets": np.arange(0, 8 * elements + 1, 8, dtype=np.uint32),
            "targets": rng.integers(0, elements, 8 * elements, dtype=np.uint32),
            "level": level,
            "reached": np.zeros(1, np.uint32),
            "now": np.array([3], np.uint32),
        },
        (groups(elements, 64), 1, 1),
    )
