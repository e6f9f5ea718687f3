"""Which packages are installed, and how they extend vyre.

`importlib.metadata` knows as much, but its import and its look at every package cost more than
compiling a small kernel does, and this is asked by every process that runs one. What only the
import system can read, such as packages in archives, is left to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module

from vyre.record import dataclass
from vyre.signals import is_from_handler

GROUPS = ("vyre.backends", "vyre.passes")
"""The groups of entry points by which packages extend vyre."""
_READ = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MOST = 1 << 16
"""Bytes read at once; of a file, fewer are the last ones."""


@dataclass(frozen=True, slots=True)
class Extension:
    """An entry point of one of the groups."""

    group: str
    name: str
    value: str
    """`module:attribute`, as the package declares it."""
    package: str
    """The name of the package that it belongs to, for pip."""
    version: str
    metadata: str
    """The folder that describes the package; empty if it lies in an archive."""

    @property
    def module(self) -> str:
        """The module that it names."""
        return self.value.partition(":")[0].strip()

    def load(self) -> object:
        """What it names; raises whatever importing that raises."""
        found: object = import_module(self.module)
        for name in filter(None, self.value.partition(":")[2].strip().split(".")):
            found = getattr(found, name)
        return found


@dataclass(frozen=True, slots=True)
class Installed:
    """The packages in the folders of a path."""

    metadata: dict[str, str]
    """By name, in lower case and with hyphens, the folder that describes the package."""
    extensions: tuple[Extension, ...]


@lru_cache(maxsize=4)
def installed(paths: tuple[str, ...]) -> Installed:
    """What is installed in these folders; of two packages of one name the first counts."""
    metadata: dict[str, str] = {}
    extensions: list[Extension] = []
    for folder in dict.fromkeys(paths):
        for name, version, place, entry_points in _descriptions(folder):
            if name not in metadata:
                metadata[name] = place
                if "[vyre." in entry_points:  # hardly ever
                    extensions += _extensions_of(name, version, place, entry_points)
    return Installed(metadata, tuple(extensions))


_Description = tuple[str, str, str, str]
"""Of a package: its name, its version, the folder that describes it, and its entry points."""


def _descriptions(folder: str) -> Iterable[_Description]:
    try:
        names = os.listdir(folder or ".")
    except NotADirectoryError:
        return _in_archive(folder)
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return ()
    found: list[_Description] = []
    endings = (".dist-info", ".egg-info", "EGG-INFO")
    # Sorted, so that the same one of two always counts.
    for name in sorted([name for name in names if name.endswith(endings)]):
        if name != "EGG-INFO":
            stem = name.removesuffix(".dist-info").removesuffix(".egg-info")
        elif folder.endswith(".egg"):
            stem = os.path.basename(folder).removesuffix(".egg")
        else:
            continue
        place = os.path.join(folder, name)
        found.append((*_name_and_version(stem), place, _entry_points(place)))
    return found


def _name_and_version(stem: str) -> tuple[str, str]:
    name, _, rest = stem.partition("-")
    return normalized(name), rest.partition("-")[0]


def normalized(name: str) -> str:
    """The name of a package, of which there are many spellings."""
    return name.lower().replace("_", "-").replace(".", "-")


def _entry_points(metadata: str) -> str:
    """The text that declares a package's entry points; empty if there is none."""
    # Of every package, in every process that runs a kernel: a file object takes twice as long.
    try:
        file = os.open(f"{metadata}{os.sep}entry_points.txt", _READ)
    except OSError as problem:
        if is_from_handler(problem):
            raise
        return ""
    parts: list[bytes] = []
    try:
        while part := os.read(file, _MOST):
            parts.append(part)
            if len(part) < _MOST:
                break
        return b"".join(parts).decode()
    except (OSError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        return ""
    finally:
        os.close(file)


def _extensions_of(name: str, version: str, folder: str, text: str) -> Iterable[Extension]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group in GROUPS and line and line[0] not in "#;":
            point, _, value = line.partition("=")
            yield Extension(
                group, point.strip(), value.partition("[")[0].strip(), name, version, folder
            )


def _in_archive(path: str) -> Iterable[_Description]:
    from importlib.metadata import distributions

    return [
        (
            normalized(found.metadata["Name"]),
            found.version,
            "",
            found.read_text("entry_points.txt") or "",
        )
        for found in distributions(path=[path])
    ]
