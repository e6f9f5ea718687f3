"""How often each byte occurs: counted in shared memory first, then added up."""

from __future__ import annotations

import numpy as np

import vyre as vy

GROUP = 256


@vy.kernel(workgroup=GROUP)
def histogram(data: vy.In[vy.u8], counts: vy.InOut[vy.u32]):
    own = vy.shared(vy.u32, 256)
    threads = vy.num_groups() * GROUP
    rounds = (len(data) + threads - 1) // threads
    for k in range(rounds):  # each workgroup has a stretch, and reads it row by row
        i = (vy.wid() * rounds + k) * GROUP + vy.lid()
        if i < len(data):
            own.atomic_add(data[i], 1)
    vy.barrier()
    counts.atomic_add(vy.lid(), own[vy.lid()])


def main(device: str | None = None, n: int = 1_000_000) -> None:
    data = np.random.default_rng(0).normal(128, 40, n).clip(0, 255).astype(np.uint8)
    counts = np.zeros(256, np.uint32)
    histogram(data.tobytes(), counts, grid=32, device=device)
    np.testing.assert_array_equal(counts, np.bincount(data, minlength=256))
    print(f"histogram: of {n:,} bytes, {counts.argmax()} is the most frequent")


if __name__ == "__main__":
    main()
