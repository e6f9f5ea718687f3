"""`import vyre` leaves the library of operations alone."""

from __future__ import annotations

import subprocess
import sys


def test_import_of_vyre_does_not_load_the_operations() -> None:
    code = "import sys, vyre; print(*[name for name in sys.modules if name.startswith('vyre.ops')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
