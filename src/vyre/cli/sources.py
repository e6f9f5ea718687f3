"""Programs named on the command line: `.vy` text, `.vyb` bytes, `module.py:kernel`."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from vyre.cli.command import UsageError
from vyre.ir import Program
from vyre.wire import load


def file_argument(parser: argparse.ArgumentParser, also: str = "") -> None:
    """Declare the argument that names a program."""
    parser.add_argument(
        "file", metavar="FILE", help=f"a .vy or .vyb file, or module.py:kernel{also}"
    )


def device_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option that names a device."""
    parser.add_argument(
        "--device", metavar="ID", help="a device that `vyre devices` lists (default: the best one)"
    )


def program_from(name: str) -> Program:
    """The program that FILE names."""
    path, _, kernel = name.partition(".py:")
    if kernel:
        return _from_python(Path(f"{path}.py"), kernel)
    if name.endswith(".py"):
        raise UsageError(f"say which kernel of {name} is meant: {name}:KERNEL")
    if not name.endswith((".vy", ".vyb")):
        raise UsageError(f"{name} is neither a .vy nor a .vyb file, nor module.py:kernel")
    return load(name)


def _from_python(path: Path, name: str) -> Program:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    found = getattr(_imported(path), name, None)
    if found is None:
        raise UsageError(f"{path} has nothing called {name}")
    if isinstance(found, Program):
        return found
    build = getattr(found, "program", None)
    made = build() if callable(build) else None
    if not isinstance(made, Program):
        raise UsageError(f"{name} in {path} is neither a kernel nor a Program")
    return made


def _imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    # The file may import what lies beside it, as when Python runs it.
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
