"""Conway's game of life on a torus; the cells stay on the device."""

from __future__ import annotations

import numpy as np

import vyre as vy


@vy.kernel(workgroup=(16, 16))
def life(old: vy.In[vy.u8, 2], new: vy.Out[vy.u8, 2]):
    rows, columns = old.shape[0], old.shape[1]
    row, column = vy.gid(1), vy.gid(0)
    if row < rows and column < columns:
        around = 0
        for dy in range(3):
            for dx in range(3):
                y = (row + dy + rows - 1) % rows
                x = (column + dx + columns - 1) % columns
                around += old[y, x]
        alive = old[row, column]
        around -= alive
        new[row, column] = 1 if around == 3 or (around == 2 and alive == 1) else 0


def simulate(device: str | None, cells: np.ndarray, generations: int) -> np.ndarray:
    here, there = vy.array(cells, device), vy.zeros(cells.shape, np.uint8, device)
    for _ in range(generations):
        life(here, there)
        here, there = there, here
    return here.numpy()


def expected(cells: np.ndarray, generations: int) -> np.ndarray:
    for _ in range(generations):
        shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
        around = sum(np.roll(cells, shift, (0, 1)) for shift in shifts)
        cells = ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint8)
    return cells


def main(device: str | None = None, n: int = 200) -> None:
    cells = (np.random.default_rng(0).random((n, n + 7)) < 0.3).astype(np.uint8)
    result = simulate(device, cells, 20)
    np.testing.assert_array_equal(result, expected(cells, 20))
    print(f"life: {result.sum():,} of {cells.size:,} cells live after 20 generations")


if __name__ == "__main__":
    main()
