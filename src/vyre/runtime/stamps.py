"""What the code that compiles is, in a few words: part of the key of everything in the cache.

Reading package metadata would cost more than a whole warm start, so packages are known by the file
that holds their version, and vyre itself by its newest file while it is being worked on.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec

from vyre.config import vyre_version

_FOLDER = os.path.dirname(os.path.dirname(__file__))
_ELSEWHERE = frozenset(
    {"backends", "cli", "conform", "diagnostics", "front", "ops", "text", "__pycache__"}
)
"""Folders that decide nothing between a program's digest and its code, or have their own stamp."""
_SOURCES = (".py", ".ll", ".wgsl")


@cache
def code_stamp() -> str:
    """Vyre and the packages it compiles with."""
    own = str(_newest(_FOLDER)) if _is_worked_on() else vyre_version()
    return ",".join([*(f"{name}={_package_stamp(name)}" for name in ("llvmlite", "wgpu")), own])


@cache
def translation_stamp() -> str:
    """The code that translates kernels: what decides about programs, and the front end."""
    front = os.path.join(_FOLDER, "front")
    if not _is_worked_on():
        return f"{vyre_version()},{os.stat(front).st_mtime_ns}"
    return f"{code_stamp()},{_newest(front)}"


@cache
def backend_stamp(module: str) -> str:
    """Where a backend comes from: a third party's new release must not find old code."""
    source = getattr(sys.modules.get(module), "__file__", None)
    if source is None:
        return "none"
    folder = os.path.dirname(source)
    if folder.startswith(_FOLDER):
        return f"{module}={_newest(folder) if _is_worked_on() else ''}"
    return f"{module}={os.stat(source).st_mtime_ns}"


def _is_worked_on() -> bool:
    return "site-packages" not in _FOLDER.split(os.sep)


def _newest(folder: str) -> int:
    """When the newest source file of a folder was written."""
    newest = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(_SOURCES):
                newest = max(newest, entry.stat().st_mtime_ns)
            elif "." not in name and name not in _ELSEWHERE:
                newest = max(newest, _newest(entry.path))
    return newest


def _package_stamp(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    folder = os.path.dirname(spec.origin)
    for path in (os.path.join(folder, "_version.py"), spec.origin):
        if os.path.exists(path):
            status = os.stat(path)
            return f"{status.st_size}.{status.st_mtime_ns}"
    return "none"
