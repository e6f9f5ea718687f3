"""Running sums: each workgroup sums its block, and after a grid sync adds what stands before it."""

from __future__ import annotations

import numpy as np

import vyre as vy

GROUP = 256


@vy.kernel(workgroup=GROUP)
def prefix_sum(x: vy.In[vy.u32], blocks: vy.Out[vy.u32], y: vy.Out[vy.u32]):
    sums = vy.shared(vy.u32, GROUP)
    i, lane = vy.gid(), vy.lid()
    sums[lane] = x[i] if i < len(x) else 0
    vy.barrier()
    reach = 1
    for _ in range(8):
        before = sums[lane - reach] if lane >= reach else 0
        vy.barrier()
        sums[lane] += before
        vy.barrier()
        reach *= 2
    mine = sums[lane]
    if lane == GROUP - 1:
        blocks[vy.wid()] = mine
    vy.grid_sync()
    for block in range(vy.wid()):
        mine += blocks[block]
    if i < len(y):
        y[i] = mine


def main(device: str | None = None, n: int = 50_000) -> None:
    x = np.random.default_rng(0).integers(0, 1000, n, dtype=np.uint32)
    y = np.zeros_like(x)
    blocks = np.zeros(-(-n // GROUP), np.uint32)
    prefix_sum(x, blocks, y, device=device)
    np.testing.assert_array_equal(y, np.cumsum(x, dtype=np.uint32))
    print(f"prefix sum: the last of {n:,} sums is {y[-1]:,}")


if __name__ == "__main__":
    main()
