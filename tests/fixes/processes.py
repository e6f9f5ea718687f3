"""Programs that need a process of their own: settings that are read once, limits, forks, signals.

Such a program begins with a line like

    # in a process of its own, with VYRE_CHECK=1 VYRE_CACHE_DIR=$PWD/cache

It is run as a person runs it, as a file in an empty folder, with the settings of that line, and
what is said of it is what then stands on the terminal.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from vyre.diagnostics import Diagnostic, Severity

_MARK = "# in a process of its own"
_SAID = re.compile(r"(error|warning)\[(\w+)\]: .*\n(?:.*\n)*?  fix: (.*)")
_SECONDS = 180


def needs_a_process(source: str) -> bool:
    """Whether a program cannot run beside others."""
    return source.startswith(_MARK)


def run(source: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(source, encoding="utf-8")
        file.parent.chmod(0o755)  # for programs that become another user
        done = subprocess.run(
            [sys.executable, "-W", "always::UserWarning", file.name],
            cwd=folder,
            env=_environment(source, folder),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        done.stderr = done.stderr.replace(folder, "$PWD")
        return done


def _environment(source: str, folder: str) -> dict[str, str]:
    """That of this process without its settings of vyre: on the CPU, without a cache, or as asked.

    Reproducers of failures would otherwise be left in the folder of the user.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VYRE_")}
    chosen = {"VYRE_DEVICE": "cpu", "VYRE_CACHE_BYTES": "0", "VYRE_REPRODUCERS": folder}
    settings = source.partition("\n")[0].partition(", with ")[2].replace("$PWD", folder)
    return kept | chosen | dict(word.split("=", 1) for word in settings.split())


def said_on(terminal: str) -> tuple[Diagnostic, ...]:
    """What is said on a terminal, each thing once; the message depends on the machine."""
    found = [
        Diagnostic(code, "...", fix, severity=Severity(kind))
        for kind, code, fix in _SAID.findall(terminal)
    ]
    return tuple(dict.fromkeys(found))


def said_in_a_process(source: str) -> tuple[Diagnostic, ...]:
    """What a program says on the terminal."""
    return said_on(run(source).stderr)


def follow_in_a_process(source: str) -> None:
    """Run a repaired program, which must end well and say nothing."""
    done = run(source)
    assert done.returncode == 0, done.stderr
    assert _SAID.search(done.stderr) is None, done.stderr
