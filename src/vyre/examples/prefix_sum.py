"""Running sums: the sum of each block, then of the blocks before it, then of its elements."""

from __future__ import annotations

import numpy as np

import vyre as vy

BLOCK = 256
"""Elements of a block; one invocation adds them up."""


@vy.kernel(workgroup=256)
def prefix_sum(x: vy.In[vy.u32], before: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    b = vy.gid()
    first, end = b * BLOCK, min((b + 1) * BLOCK, len(x))
    if b < len(before):
        total = 0
        for i in range(first, end):
            total += x[i]
        before[b] = total
    vy.grid_sync()
    if b == 0:
        carried = 0
        for block in range(len(before)):
            own = before[block]
            before[block] = carried
            carried += own
    vy.grid_sync()
    if b < len(before):
        running = before[b]
        for i in range(first, end):
            running += x[i]
            y[i] = running


def blocks(n: int) -> int:
    """Blocks for this number of elements."""
    return -(-n // BLOCK)


def main(device: str | None = None, n: int = 50_000) -> None:
    x = np.random.default_rng(0).integers(0, 1000, n, dtype=np.uint32)
    y, before = np.zeros_like(x), np.zeros(blocks(n), np.uint32)
    prefix_sum(x, before, y, device=device)
    np.testing.assert_array_equal(y, np.cumsum(x, dtype=np.uint32))
    print(f"prefix sum: the last of {n:,} sums is {y[-1]:,}")


if __name__ == "__main__":
    main()
