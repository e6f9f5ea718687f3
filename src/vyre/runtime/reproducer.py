"""Reproducers: a program and its inputs in a folder that a person can attach to a report."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.config import config
from vyre.ir import Program


def save_reproducer(
    program: Program,
    inputs: Mapping[str, NDArray[Any]],
    grid: tuple[int, int, int] | None,
    folder: Path | None = None,
) -> Path:
    """Write `program.vy`, one `.npy` per input and `launch.json`; the folder appears when whole.

    `vyre run FOLDER` replays it.
    """
    base = Path(config().reproducer_dir) if folder is None else folder
    base.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=base, prefix=".tmp-"))
    (temporary / "program.vy").write_text(str(program), encoding="utf-8")
    for name, array in inputs.items():
        np.save(temporary / f"{name}.npy", array, allow_pickle=False)
    launch = {"grid": grid, "inputs": sorted(inputs)}
    (temporary / "launch.json").write_text(json.dumps(launch), encoding="utf-8")
    number = 0
    while True:
        final = base / f"{program.digest()[:16]}-{number}"
        try:
            os.rename(temporary, final)
            return final
        except OSError:
            number += 1
            if number > 1000:
                return temporary
