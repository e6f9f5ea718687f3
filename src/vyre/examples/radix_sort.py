"""Sorting by digits of four bits: count, add up, scatter; eight times, in one dispatch."""

from __future__ import annotations

import numpy as np

import vyre as vy

GROUP = 64
DIGITS = 16


@vy.func
def sort_digit(digits, shift, source: vy.In[vy.u32], starts, target):
    """One round: a stable sort of `source` by one digit, into `target`."""
    i, lane, group = vy.gid(), vy.lid(), vy.wid()
    mine = (source[i] >> shift) % DIGITS if i < len(source) else DIGITS
    digits[lane] = mine
    vy.barrier()
    if lane < DIGITS:
        count = 0
        for k in range(GROUP):
            if digits[k] == lane:
                count += 1
        starts[lane * vy.num_groups() + group] = count
    vy.grid_sync()
    if i == 0:
        before = 0
        for k in range(len(starts)):
            here = starts[k]
            starts[k] = before
            before += here
    vy.grid_sync()
    digits[lane] = mine  # shared memory does not survive a grid sync
    vy.barrier()
    if i < len(source):
        rank = starts[mine * vy.num_groups() + group]
        for k in range(lane):
            if digits[k] == mine:
                rank += 1
        target[rank] = source[i]
    vy.grid_sync()


@vy.kernel(workgroup=GROUP)
def radix_sort(keys: vy.InOut[vy.u32], other: vy.InOut[vy.u32], starts: vy.InOut[vy.u32]):
    digits = vy.shared(vy.u32, GROUP)
    for two in range(4):
        sort_digit(digits, 8 * two, keys, starts, other)
        sort_digit(digits, 8 * two + 4, other, starts, keys)


def main(device: str | None = None, n: int = 2000) -> None:
    keys = np.random.default_rng(0).integers(0, 1 << 32, n, dtype=np.uint32)
    expected = np.sort(keys)
    starts = np.zeros(DIGITS * -(-n // GROUP), np.uint32)
    radix_sort(keys, np.zeros_like(keys), starts, elements=n, device=device)
    np.testing.assert_array_equal(keys, expected)
    print(f"radix sort: {n:,} numbers")


if __name__ == "__main__":
    main()
