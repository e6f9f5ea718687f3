"""What commands advise, on the command line and for the machine, works there."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from tests.fixes.repairs import command
from vyre.backends.wgsl import adapters
from vyre.cli import main

ROOT = Path(__file__).parents[2]
PROGRAM = """\
program workgroup(64, 1, 1)
buffer x: read_only f32[] @0
buffer scale: uniform f32[1] @1
buffer y: read_write f32[] @2 output
if gid.x < len(y) { y[gid.x] = scale[0] * x[gid.x] }
"""


def test_the_options_that_run_asks_for_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "scaled.vy"
    file.write_text(PROGRAM)
    line = f"vyre run {file} --device reference"
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        assert main(shlex.split(line)[1:]) != 0
    asked = re.findall(r"--in \w+=\S+", errors.getvalue())
    assert len(asked) == 2, errors.getvalue()
    written = command(f"{line} {' '.join(asked)} --size y=1000")
    assert "y" in written


def test_the_driver_that_is_advised_is_the_one_that_is_installed_for_the_tests() -> None:
    (advised,) = re.findall(r"`apt-get install ([^`]+)`", Path(adapters.__file__).read_text())
    makefile = (ROOT / "Makefile").read_text()
    assert all(package in makefile for package in advised.split())
