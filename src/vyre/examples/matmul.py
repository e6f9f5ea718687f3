"""A matrix product in tiles: what a workgroup reads often, it reads from shared memory."""

from __future__ import annotations

import numpy as np

import vyre as vy

TILE = 16


@vy.kernel(workgroup=(TILE, TILE))
def matmul(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    tile_a = vy.shared(vy.f32, TILE, TILE)
    tile_b = vy.shared(vy.f32, TILE, TILE)
    row, column = vy.gid(1), vy.gid(0)
    y, x = vy.lid(1), vy.lid(0)
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, start + x]  # zero outside of the matrix
        tile_b[y, x] = b[start + y, column]
        vy.barrier()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        vy.barrier()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def main(device: str | None = None, n: int = 200) -> None:
    rng = np.random.default_rng(0)
    a = rng.random((n, n + 5), dtype=np.float32)
    b = rng.random((n + 5, n - 3), dtype=np.float32)
    c = np.zeros((n, n - 3), np.float32)
    matmul(a, b, c, device=device)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    print(f"matmul: {a.shape} times {b.shape}")


if __name__ == "__main__":
    main()
