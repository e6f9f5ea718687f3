"""The layer contract of pyproject.toml holds: imports go downwards only."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_imports_follow_the_layers() -> None:
    tool = Path(sysconfig.get_path("scripts")) / "lint-imports"
    run = subprocess.run(
        [sys.executable, tool, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
