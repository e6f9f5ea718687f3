"""The sum of an array: a tree in shared memory, and one atomic per workgroup."""

from __future__ import annotations

import numpy as np

import vyre as vy

GROUP = 256


@vy.kernel(workgroup=GROUP)
def total(x: vy.In[vy.u32], result: vy.InOut[vy.u32]):
    partial = vy.shared(vy.u32, GROUP)
    lane = vy.lid()
    threads = vy.num_groups() * GROUP
    rounds = (len(x) + threads - 1) // threads
    mine = 0
    for k in range(rounds):  # each workgroup has a stretch, and reads it row by row
        i = (vy.wid() * rounds + k) * GROUP + lane
        if i < len(x):
            mine += x[i]
    partial[lane] = mine
    vy.barrier()
    width = GROUP // 2
    for _ in range(8):
        if lane < width:
            partial[lane] += partial[lane + width]
        width //= 2
        vy.barrier()
    if lane == 0:
        result.atomic_add(0, partial[0])


def main(device: str | None = None, n: int = 1_000_000) -> None:
    x = np.random.default_rng(0).integers(0, 1000, n, dtype=np.uint32)
    result = np.zeros(1, np.uint32)
    total(x, result, grid=16, device=device)
    assert result[0] == x.sum(dtype=np.uint32)
    print(f"reduction: the sum of {n:,} numbers is {result[0]:,}")


if __name__ == "__main__":
    main()
