"""The devices on which the tests of the front end run a kernel: the definition, and a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

DEVICES = ("reference", "cpu")


def run(kernel: Any, *args: Any, **options: Any) -> list[Any]:
    """Run a kernel everywhere on copies of the arguments; what it left, the same everywhere."""
    results = []
    for device in DEVICES:
        own = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        kernel(*own, device=device, **options)
        results.append([arg for arg in own if isinstance(arg, np.ndarray)])
    for first, *others in zip(*results, strict=True):
        for other in others:
            np.testing.assert_array_equal(other, first)
    return results[0]
