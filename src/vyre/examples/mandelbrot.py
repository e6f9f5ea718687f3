"""The Mandelbrot set, written to mandelbrot.png."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import vyre as vy
from vyre.examples.picture import colours, write_png


@vy.kernel(workgroup=(16, 16))
def mandelbrot(left: vy.f32, top: vy.f32, step: vy.f32, limit: vy.u32, rounds: vy.Out[vy.u32, 2]):
    row, column = vy.gid(1), vy.gid(0)
    if row < rounds.shape[0] and column < rounds.shape[1]:
        cx = left + vy.f32(column) * step
        cy = top - vy.f32(row) * step
        x, y, n = 0.0, 0.0, 0
        while n < limit and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            n += 1
        rounds[row, column] = n


def compute(device: str | None, height: int, width: int, limit: int) -> np.ndarray:
    rounds = np.zeros((height, width), np.uint32)
    mandelbrot(-2.2, 1.2, np.float32(2.4 / height), limit, rounds, device=device)
    return rounds


def picture(rounds: np.ndarray, limit: int) -> np.ndarray:
    """The rounds as colours, the set itself black."""
    shade = np.where(rounds == limit, 1.0, np.sqrt((rounds % limit) / limit) * 0.95)
    return colours(shade)


def expected(height: int, width: int, limit: int) -> np.ndarray:
    """The same in numpy; points that have escaped are not looked at any more."""
    step = np.float32(2.4 / height)
    wide = np.float32(-2.2) + np.arange(width, dtype=np.float32) * step
    high = np.float32(1.2) - np.arange(height, dtype=np.float32) * step
    cx, cy = (part.reshape(-1) for part in np.meshgrid(wide, high))
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    rounds, alive = np.zeros(cx.size, np.uint32), np.arange(cx.size)
    for _ in range(limit):
        inside = x * x + y * y <= 4
        alive, cx, cy = alive[inside], cx[inside], cy[inside]
        x, y = x[inside], y[inside]
        x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
        rounds[alive] += 1
    return rounds.reshape(height, width)


def main(device: str | None = None, n: int = 240, folder: Path | None = None) -> None:
    height, width, limit = n, n * 4 // 3, 100
    rounds = compute(device, height, width, limit)
    np.testing.assert_array_equal(rounds, expected(height, width, limit))
    place = Path(tempfile.mkdtemp()) if folder is None else folder
    write_png(place / "mandelbrot.png", picture(rounds, limit))
    print(f"mandelbrot: {width} x {height} pixels in {place / 'mandelbrot.png'}")


if __name__ == "__main__":
    main(folder=Path())
