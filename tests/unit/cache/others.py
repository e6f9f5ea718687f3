"""What other users do to a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

STRANGER = 54_321


def give_away(patch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Have these files, folders or links belong to another user."""
    if os.geteuid() == 0:
        for path in paths:
            os.lchown(path, STRANGER, STRANGER)
        return
    # Only root gives things away; for others, this process becomes the stranger to these.
    away = {(status.st_dev, status.st_ino) for status in map(os.lstat, paths)}
    fstat, stat = os.fstat, os.stat

    def as_seen(status: os.stat_result) -> os.stat_result:
        if (status.st_dev, status.st_ino) not in away:
            return status
        values = list(status)
        values[4] = STRANGER
        return os.stat_result(values)

    patch.setattr(os, "fstat", lambda file: as_seen(fstat(file)))
    patch.setattr(os, "stat", lambda *args, **options: as_seen(stat(*args, **options)))
