"""Writes the pictures of the README: `python -m vyre.examples.gallery docs/images`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from vyre.examples import life, mandelbrot, nbody
from vyre.examples.picture import colours, write_png


def mandelbrot_picture(device: str | None, size: int) -> np.ndarray:
    limit = 200
    rounds = mandelbrot.compute(device, size, size * 4 // 3, limit)
    return mandelbrot.picture(rounds, limit)


def life_picture(device: str | None, size: int) -> np.ndarray:
    """Cells after some generations, the younger the brighter."""
    cells = (np.random.default_rng(4).random((size // 2, size * 2 // 3)) < 0.25).astype(np.uint8)
    heat = np.zeros(cells.shape)
    for _ in range(60):
        cells = life.simulate(device, cells, 1)
        heat = np.maximum(heat * 0.93, cells)
    return np.kron(colours(0.12 + 0.5 * heat), np.ones((2, 2, 1), np.uint8))


def nbody_picture(device: str | None, size: int) -> np.ndarray:
    """Where the bodies of a turning disc are, as light."""
    bodies = nbody.simulate(device, 3000, 40)
    scale = size / 3
    x = (bodies[0] * scale + size * 2 / 3).astype(int)
    y = (bodies[1] * scale + size / 2).astype(int)
    light = np.zeros((size, size * 4 // 3))
    inside = (x >= 0) & (x < light.shape[1]) & (y >= 0) & (y < size)
    np.add.at(light, (y[inside], x[inside]), 1.0)
    blurred = sum(np.roll(light, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
    return colours(np.clip(blurred / 6, 0, 0.6))


PICTURES = {"mandelbrot": mandelbrot_picture, "life": life_picture, "nbody": nbody_picture}


def main(device: str | None = None, n: int = 600, folder: Path | None = None) -> None:
    for name, draw in PICTURES.items():
        path = (Path("docs/images") if folder is None else folder) / f"{name}.png"
        write_png(path, draw(device, n))
        print(f"gallery: {path}")


if __name__ == "__main__":
    main(folder=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
