"""One kernel for many types: the arrays of a call decide, at run time."""

from __future__ import annotations

import numpy as np

import vyre as vy

T = vy.generic("T")


@vy.kernel
def polynomial(power: vy.static[int], x: vy.In[T], y: vy.Out[T]):
    """1 + x + x**2 + ... + x**power, in whatever type the arrays have."""
    i = vy.gid()
    if i < len(x):
        total = 1
        for _ in range(power):
            total = total * x[i] + 1
        y[i] = total


def expected(power: int, x: np.ndarray) -> np.ndarray:
    total = np.ones_like(x)
    for _ in range(power):
        total = total * x + x.dtype.type(1)
    return total


TYPES = (np.uint8, np.int16, np.uint32, np.int64, np.float32)


def main(device: str | None = None, n: int = 1000) -> None:
    for dtype in TYPES:
        x = (np.arange(n) % 11).astype(dtype)
        y = np.zeros_like(x)
        polynomial(5, x, y, device=device)
        np.testing.assert_array_equal(y, expected(5, x))
    print(f"generic: {', '.join(np.dtype(dtype).name for dtype in TYPES)}")


if __name__ == "__main__":
    main()
