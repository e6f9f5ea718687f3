"""Running sums: each workgroup sums its block, and after a grid sync adds what stands before it."""

from __future__ import annotations

import numpy as np

import vyre as vy

GROUP = 256
EACH = 16
"""Elements that one invocation adds up by itself."""


@vy.kernel(workgroup=GROUP)
def prefix_sum(x: vy.In[vy.u32], blocks: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    sums = vy.shared(vy.u32, GROUP)
    lane, first = vy.lid(), vy.gid() * EACH
    mine = 0
    for k in range(EACH):
        mine += x[first + k]  # zero after the end
    sums[lane] = mine
    vy.barrier()
    reach = 1
    for _ in range(8):
        before = sums[lane - reach] if lane >= reach else 0
        vy.barrier()
        sums[lane] += before
        vy.barrier()
        reach *= 2
    total = sums[lane] - mine
    if lane == GROUP - 1:
        blocks[vy.wid()] = sums[lane]
    vy.grid_sync()
    for block in range(vy.wid()):
        total += blocks[block]
    for k in range(EACH):
        total += x[first + k]
        y[first + k] = total


def groups(n: int) -> int:
    """Workgroups for this number of elements."""
    return -(-n // (GROUP * EACH))


def main(device: str | None = None, n: int = 50_000) -> None:
    x = np.random.default_rng(0).integers(0, 1000, n, dtype=np.uint32)
    y = np.zeros_like(x)
    prefix_sum(x, np.zeros(groups(n), np.uint32), y, grid=groups(n), device=device)
    np.testing.assert_array_equal(y, np.cumsum(x, dtype=np.uint32))
    print(f"prefix sum: the last of {n:,} sums is {y[-1]:,}")


if __name__ == "__main__":
    main()
