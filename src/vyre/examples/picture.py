"""Pictures without a library: PNG files of grey or coloured pixels."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np


def write_png(path: Path, pixels: np.ndarray) -> None:
    """Write `uint8` pixels, (height, width) in grey or (height, width, 3) in colour."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0
    rows = np.ascontiguousarray(pixels, np.uint8).reshape(height, -1)
    data = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b"")]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, body in chunks:
            check = zlib.crc32(kind + body)
            file.write(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check))


def colours(values: np.ndarray) -> np.ndarray:
    """Values from 0 to 1 as colours from deep blue over orange to white."""
    stops = np.array([0.0, 0.16, 0.42, 0.64, 0.86, 1.0])
    palette = np.array(
        [[0, 7, 100], [32, 107, 203], [237, 255, 255], [255, 170, 0], [120, 20, 0], [0, 2, 0]]
    )
    channels = [np.interp(values, stops, palette[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).astype(np.uint8)
