"""Which files are in a folder and below it, noted in the cache.

A folder knows when a name in it was last added, removed or given to another file. As long as none
of the folders has changed since their names were noted, they are asked for nothing else. Folders
that were changed a moment ago may change again at what their clock takes for the same time, and
links lead to what other folders know of: of such nothing is noted.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Collection

from vyre.cache.disk import cache_key, default_cache
from vyre.record import dataclass
from vyre.signals import is_from_handler

YOUNG_NS = 2_000_000_000
"""File systems tell times apart that differ by this, even the coarse ones."""
EVERY_FILE: tuple[str, ...] = ()
"""Endings of all files, but those that programs write as they run."""
_WRITTEN = (".log", ".lock", ".tmp", ".pid", "~")
_NUMBERS = 4
"""Of a folder: its device, its number, when names in it were changed, and when anything of it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Files, by their paths."""

    files: list[str]


def listing(folder: str, endings: tuple[str, ...], without: Collection[str]) -> Listing:
    """Every file with one of the endings; none that is hidden, none in folders named in `without`.

    With `EVERY_FILE`, all but logs and the like.

    Raises `OSError` if something cannot be looked at.
    """
    store = default_cache()
    key = cache_key("listing 2", folder, *endings, "", *sorted(without))
    noted = store.get(key)
    known = None if noted is None else _still_true(noted)
    if known is not None:
        return known
    walk = _Walk(endings, without)
    now = time.time_ns()
    walk.enter(folder)
    numbers = _numbers(walk.folders)
    changed = (max(pair) for pair in zip(numbers[2::_NUMBERS], numbers[3::_NUMBERS], strict=True))
    if not walk.has_links and max(changed, default=now) < now - YOUNG_NS:
        store.put(key, _packed(walk, numbers))
    return Listing(walk.files)


class _Walk:
    """Looks into a folder and those below it."""

    def __init__(self, endings: tuple[str, ...], without: Collection[str]) -> None:
        self.files: list[str] = []
        self.folders: list[str] = []
        self.has_links = False
        self._endings = endings
        self._without = without
        self._entered: set[tuple[int, int]] = set()

    def enter(self, folder: str) -> None:
        """Add what is in a folder."""
        self.folders.append(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." or name == "__pycache__":
                    continue
                self.has_links = self.has_links or entry.is_symlink()
                if entry.is_file():
                    if self._is_wanted(name):
                        self.files.append(entry.path)
                elif name not in self._without and entry.is_dir() and not self._was_entered(entry):
                    self.enter(entry.path)

    def _is_wanted(self, name: str) -> bool:
        return name.endswith(self._endings) if self._endings else not name.endswith(_WRITTEN)

    def _was_entered(self, entry: os.DirEntry[str]) -> bool:
        """Whether a link to this folder was followed before: links may lead in circles."""
        if not entry.is_symlink():
            return False
        status = entry.stat()
        folder = status.st_dev, status.st_ino
        known = folder in self._entered
        self._entered.add(folder)
        return known


def _numbers(folders: Collection[str]) -> list[int]:
    found: list[int] = []
    for folder in folders:
        status = os.stat(folder)
        found += (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
    return found


def _packed(walk: _Walk, numbers: list[int]) -> bytes:
    text = "\0".join([*walk.folders, *walk.files]).encode(errors="surrogateescape")
    return struct.pack(f"<Q{len(numbers)}q", len(walk.folders), *map(_signed, numbers)) + text


def _still_true(noted: memoryview) -> Listing | None:
    """What was noted, unless a folder was changed since."""
    (count,) = struct.unpack_from("<Q", noted)
    numbers = struct.unpack_from(f"<{count * _NUMBERS}q", noted, 8)
    text = bytes(noted[8 + 8 * len(numbers) :]).decode(errors="surrogateescape")
    paths = text.split("\0")
    try:
        now = _numbers(paths[:count])
    except OSError as problem:  # one is no longer there
        if is_from_handler(problem):
            raise
        return None
    return Listing(paths[count:]) if numbers == tuple(map(_signed, now)) else None


def _signed(number: int) -> int:
    return number if number < 1 << 63 else number - (1 << 64)
