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

from vyre.cache.private_folder import PrivateFolder, UntrustedError
from vyre.config import config
from vyre.ir import Program
from vyre.runtime.host_types import as_host_arrays
from vyre.signals import is_from_handler


def save_reproducer(
    program: Program,
    inputs: Mapping[str, NDArray[Any]],
    grid: tuple[int, int, int] | None,
    folder: Path | None = None,
) -> Path:
    """Write `program.vy`, one `.npy` per input and `launch.json`; the folder appears when whole.

    `vyre run FOLDER` replays it.
    """
    base = _default_folder() if folder is None else folder
    base.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=base, prefix=".tmp-"))
    (temporary / "program.vy").write_text(str(program), encoding="utf-8")
    for name, array in as_host_arrays(program, inputs).items():
        np.save(temporary / f"{name}.npy", array, allow_pickle=False)
    launch = {"grid": grid, "inputs": sorted(inputs)}
    (temporary / "launch.json").write_text(json.dumps(launch), encoding="utf-8")
    number = 0
    while True:
        final = base / f"{program.digest()[:16]}-{number}"
        try:
            os.rename(temporary, final)
            return final
        except OSError as problem:
            if is_from_handler(problem):
                raise
            number += 1
            if number > 1000:
                return temporary


def kept_reproducer(
    program: Program, inputs: Mapping[str, NDArray[Any]], grid: tuple[int, int, int] | None
) -> tuple[Path | None, str]:
    """Where a reproducer was written, or why it was not: the failure that it is of comes first."""
    try:
        return save_reproducer(program, inputs, grid), ""
    except Exception as problem:
        if is_from_handler(problem):
            raise
        said = " ".join(str(problem).split())
        return None, f"(its reproducer could not be written: {type(problem).__name__}: {said})"


def _default_folder() -> Path:
    """The folder that the settings name, or a new one if that is in a cache that is not used."""
    settings = config()
    wanted = settings.reproducer_dir
    base = settings.cache_dir
    if wanted is not None and (base is None or wanted != os.path.join(base, "reproducers")):
        return Path(wanted)
    try:
        return Path(PrivateFolder(wanted or "").make())
    except (OSError, UntrustedError) as problem:
        if is_from_handler(problem):
            raise
        return Path(tempfile.mkdtemp(prefix="vyre-reproducers-"))
