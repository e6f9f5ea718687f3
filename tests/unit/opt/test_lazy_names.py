"""Names of `vyre.opt` are what they are, in whatever order they are first used."""

from __future__ import annotations

import subprocess
import sys


def test_no_module_takes_the_place_of_a_function_of_its_name():
    code = (
        "import vyre.opt, types\n"
        "for name in reversed(sorted(vyre.opt.__all__)):\n"
        "    getattr(vyre.opt, name)\n"
        "print([n for n in vyre.opt.__all__ if isinstance(getattr(vyre.opt, n), types.ModuleType)])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
