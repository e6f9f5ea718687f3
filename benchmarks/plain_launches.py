"""Arguments for the kernels in plain/: enough work that every loop and branch is taken."""

import numpy as np

from benchmarks.executed import Launch
from benchmarks.programs import groups

ELEMENTS = 4_096
SIDE = 32
"""Rows and columns of the matrices."""


def launches() -> dict[str, Launch]:
    """By kernel."""
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 1 << 32, ELEMENTS, dtype=np.uint32)
    floats = rng.standard_normal(ELEMENTS, dtype=np.float32)
    matrices = rng.standard_normal((2, SIDE * SIDE), dtype=np.float32)
    zeros = np.zeros(ELEMENTS, np.uint32)
    return {
        "bfs_step": _bfs(rng),
        "byte_decoder": Launch(
            {"text": rng.integers(0, 256, 16 * ELEMENTS, dtype=np.uint8), "words": zeros},
            (groups(ELEMENTS, 64), 1, 1),
        ),
        "colours": Launch(
            {"pixels": numbers, "bright": zeros, "vivid": zeros}, (groups(ELEMENTS, 64), 1, 1)
        ),
        "histogram": Launch(
            {
                "keys": rng.integers(0, 256, ELEMENTS, dtype=np.uint8),
                "counts": np.zeros(256, np.uint32),
            },
            (groups(ELEMENTS, 256), 1, 1),
        ),
        "matmul": Launch(
            {
                "a": matrices[0],
                "b": matrices[1],
                "c": np.zeros(SIDE * SIDE, np.float32),
                "size": np.array([SIDE], np.uint32),
                "scale": np.array([0.5], np.float32),
            },
            (groups(SIDE, 16), groups(SIDE, 16), 1),
        ),
        "median": Launch({"samples": numbers, "smooth": zeros}, (groups(ELEMENTS, 64), 1, 1)),
        "pipeline": Launch(
            {"x": floats, "y": np.zeros_like(floats), "z": np.zeros_like(floats)},
            (groups(ELEMENTS, 64), 1, 1),
        ),
        "reduction": Launch(
            {"values": numbers, "total": np.zeros(1, np.uint32)}, (groups(ELEMENTS, 1024), 1, 1)
        ),
        "scanner": Launch(
            {
                "text": numbers,
                "classes": rng.integers(0, 256, 256, dtype=np.uint32),
                "matches": zeros,
            },
            (groups(ELEMENTS, 64), 1, 1),
        ),
        "stencil": Launch(
            {
                "field": floats,
                "weights": rng.standard_normal(8, dtype=np.float32),
                "out": np.zeros_like(floats),
            },
            (groups(ELEMENTS, 64), 1, 1),
        ),
    }


def _bfs(rng: np.random.Generator) -> Launch:
    """A random graph of eight edges to a node, one node in eight reached."""
    level = np.full(ELEMENTS, 0xFFFFFFFF, np.uint32)
    level[rng.random(ELEMENTS) < 1 / 8] = 3
    return Launch(
        {
            "offsets": np.arange(0, 8 * ELEMENTS + 1, 8, dtype=np.uint32),
            "targets": rng.integers(0, ELEMENTS, 8 * ELEMENTS, dtype=np.uint32),
            "level": level,
            "reached": np.zeros(1, np.uint32),
            "now": np.array([3], np.uint32),
        },
        (groups(ELEMENTS, 64), 1, 1),
    )
