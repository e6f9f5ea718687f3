"""Bugs in the cache, each planted by itself: the nets of keys and of attacks must show them.

A plant is Python that is run in the process that computes stamps, or a change to this one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import count
from unittest.mock import patch

from vyre import config
from vyre.cache import private_folder
from vyre.cache.private_folder import PrivateFolder
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.ir import Program
from vyre.runtime import compiling
from vyre.target import Target

# --- what is left out of the stamp of the code ----------------------------------------------------

STAMPS: dict[str, tuple[str, str]] = {
    "vyre known by its version alone": (
        "stamp._own_files = lambda registered: sources.Files()",
        "a pass of vyre edited",
    ),
    "passes and backends of others left out": (
        "right = stamp._own_files; stamp._own_files = lambda registered: right(())\n"
        "stamp._registered = lambda: ()",
        "another's pass less",
    ),
    "their sources left out, their names not": (
        "right = stamp._own_files; stamp._own_files = lambda registered: right(())",
        "another's backend edited",
    ),
    "their data left out": ("stamp.EVERY_FILE = ('.py',)", "data of another's pass"),
    "files known by size and time": (
        "sources._HAS_CHANGES = False\nsources._changed = lambda status: status.st_mtime_ns",
        "and nothing else of it changed",
    ),
    "contents without names": (
        "right = sources.Files.digest\n"
        "def digest(self):\n"
        "    self._trees = [(path, '') for path in self._paths]\n"
        "    return right(self)\n"
        "sources.Files.digest = digest",
        "a file of vyre renamed",
    ),
    "llvmlite left out": (
        "stamp._LIBRARIES = {'wgpu': 'resources', 'numpy': ''}",
        "the version of llvmlite",
    ),
    "llvmlite known by its version": (
        "stamp._shared_libraries = lambda folder: []",
        "the library of llvmlite",
    ),
    "native sources left out": ("stamp._SOURCES = ('.py',)", "the native runtime edited"),
    "VYRE_WITHOUT ignored": (
        "import vyre.extensions as e, types\n"
        "e.config = lambda: types.SimpleNamespace(without=frozenset())",
        "another's pass left out",
    ),
    "which vyre it is depends on where it is": (
        "right = sources.Files.digest\n"
        "sources.Files.digest = lambda self: right(self) + self.signature()",
        "the place of vyre",
    ),
}
"""Python that plants a bug, and the row of the tables that shows it."""


# --- what is left out of keys ---------------------------------------------------------------------


@dataclass(frozen=True)
class Plant:
    """One bug, how to plant it here, and the attack that it lets through."""

    name: str
    planted: Callable[[], AbstractContextManager[object]]
    attack: str = ""


def _instead(
    owner: object, name: str, value: object
) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(owner, name, value)


@contextmanager
def _without(part: int) -> Iterator[None]:
    """A key without one of its parts."""
    right = compiling.cache_key

    def cache_key(*parts: str) -> str:
        return right(*parts[:part], *parts[part + 1 :])

    with patch.object(compiling, "cache_key", cache_key):
        yield


KEYS = (
    Plant("key: the code left out", lambda: _without(1)),
    Plant("key: the backend's name left out", lambda: _without(2)),
    Plant("key: where the backend comes from left out", lambda: _without(3)),
    Plant("key: the target left out", lambda: _without(4)),
    Plant("key: the options left out", lambda: _without(5)),
    Plant("key: hot or not left out", lambda: _without(6)),
    Plant("key: the program left out", lambda: _without(7)),
    Plant(
        "key: checks left out", _instead(CompileOptions, "key", lambda o: repr((o.profile, o.emit)))
    ),
    Plant(
        "key: options run together",
        _instead(
            EmitOptions,
            "key",
            lambda o: o.tier + ",".join(f"{n}={v}" for n, v in sorted(o.values.items())),
        ),
    ),
    Plant("key: details of the target left out", _instead(Target, "key", lambda t: t.name)),
    Plant(
        "key: zero has no sign",
        _instead(Program, "digest", lambda p: str(p).replace("-0.0", "0.0")),
    ),
)

# --- what is not checked --------------------------------------------------------------------------

_numbers = count()


def _write_guessably(self: PrivateFolder, name: str, *parts: bytes) -> None:
    start, folder = self._enter(create=True)
    temporary = f".{name}.{os.getpid()}.{next(_numbers)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    file = os.open(start + temporary, flags, 0o600, dir_fd=folder)
    with open(file, "wb") as contents:
        contents.writelines(parts)
    os.replace(start + temporary, start + name, src_dir_fd=folder, dst_dir_fd=folder)
    private_folder._leave(folder)


def _read_by_path(self: PrivateFolder, name: str, *, used: bool = False) -> bytes | None:
    """Checks the folder, and then opens the file by its whole path."""
    _, folder = self._enter()
    private_folder._leave(folder)
    file = os.open(os.path.join(self.path, name), private_folder._READ)
    with open(file, "rb") as contents:
        return contents.read()


CHECKS = (
    Plant(
        "owner of the folder",
        _instead(private_folder, "_problem", lambda *_: None),
        "own the folder",
    ),
    Plant(
        "folders above",
        _instead(private_folder, "_check_on_the_way", lambda *_: None),
        "own a folder above it",
    ),
    Plant(
        "owner of the file",
        _instead(private_folder, "_is_own_file", lambda _: True),
        "own the file",
    ),
    Plant(
        "mode of folders",
        _instead(private_folder, "_writable", lambda *_: None),
        "rename a folder above it",
    ),
    Plant(
        "owner of links",
        _instead(
            private_folder,
            "_link_in",
            lambda folder, name, place: os.readlink(name, dir_fd=folder),
        ),
        "put a link where a folder above it was",
    ),
    Plant(
        "links instead of files",
        _instead(private_folder, "_READ", private_folder._READ & ~os.O_NOFOLLOW),
        "put a link where the file was",
    ),
    Plant(
        "names of temporary files",
        _instead(PrivateFolder, "write", _write_guessably),
        "guess the name of a temporary file",
    ),
    Plant(
        "the time between check and use",
        _instead(PrivateFolder, "read", _read_by_path),
        "swap the folder after it was checked",
    ),
    Plant(
        "relative paths",
        _instead(config, "_cache_dir", lambda environment: (environment["VYRE_CACHE_DIR"], "")),
        "prepare the working directory",
    ),
)
