"""Conway's game of life; the cells stay on the device from generation to generation."""

from __future__ import annotations

import numpy as np

import vyre as vy


@vy.kernel(workgroup=(64, 4))
def life(rows: vy.u32, columns: vy.u32, old: vy.In[vy.u8], new: vy.InOut[vy.u8]):
    """One generation of a board with a border of dead cells around it."""
    y, x = vy.gid(1), vy.gid(0)
    if y < rows and x < columns:
        here = (y + 1) * (columns + 2) + x + 1
        above, below = here - columns - 2, here + columns + 2
        around = old[here - 1] + old[here + 1]
        for row in (above, below):
            around += old[row - 1] + old[row] + old[row + 1]
        new[here] = vy.u8((around == 3) | ((around == 2) & (old[here] == 1)))


def grid(rows: int, columns: int) -> tuple[int, int]:
    """Workgroups that cover a board."""
    return -(-columns // 64), -(-rows // 4)


def simulate(device: str | None, cells: np.ndarray, generations: int) -> np.ndarray:
    rows, columns = cells.shape
    board = np.pad(cells, 1)
    here, there = vy.array(board.reshape(-1), device), vy.zeros(board.size, np.uint8, device)
    for _ in range(generations):
        life(rows, columns, here, there, grid=grid(rows, columns))
        here, there = there, here
    return here.numpy().reshape(board.shape)[1:-1, 1:-1]


def expected(cells: np.ndarray, generations: int) -> np.ndarray:
    for _ in range(generations):
        board = np.pad(cells, 1)
        three = board[:-2] + board[1:-1] + board[2:]
        around = three[:, :-2] + three[:, 1:-1] + three[:, 2:] - cells
        cells = ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint8)
    return cells


def main(device: str | None = None, n: int = 200) -> None:
    cells = (np.random.default_rng(0).random((n, n + 7)) < 0.3).astype(np.uint8)
    result = simulate(device, cells, 20)
    np.testing.assert_array_equal(result, expected(cells, 20))
    print(f"life: {result.sum():,} of {cells.size:,} cells live after 20 generations")


if __name__ == "__main__":
    main()
