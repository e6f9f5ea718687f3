"""Compiled programs on disk, shared by all processes of a user.

An entry is one file, named by a digest of everything that decides about its contents, written
under a temporary name and renamed, so that it is whole or not there. It begins with a magic
number and the digest of its body; whatever does not match is a miss and is removed. The folder is
one that this user alone can write to (see `private_folder`), else there is no cache, and a warning
says why. It is kept under a size by removing what was used least recently.
"""

from __future__ import annotations

import os
import stat
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.cache.private_folder import PrivateFolder, UntrustedError
from vyre.config import config
from vyre.digests import blake2b
from vyre.record import dataclass
from vyre.signals import is_from_handler, tolerate

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"vyrecache3\n"
_DIGEST = 32
_SUFFIX = ".vyc"
_TEMPORARY_AGE = 3600
"""Seconds after which a temporary file belongs to a process that died."""


@dataclass(frozen=True, slots=True)
class CacheSummary:
    """What a cache folder holds."""

    path: str
    entries: int
    nbytes: int
    limit: int


class DiskCache:
    """A folder of compiled programs."""

    def __init__(self, folder: Path | str, limit: int) -> None:
        self.folder = os.path.abspath(folder) if folder else ""
        self.limit = limit
        self._files = PrivateFolder(self.folder)
        self._written = 0
        self._is_refused = False

    def get(self, key: str) -> memoryview | None:
        """The bytes stored under `key`, if they are there and unharmed."""
        if not self.limit:
            return None
        name = key + _SUFFIX
        try:
            data = self._files.read(name, used=True)
        except OSError as problem:
            if is_from_handler(problem):
                raise
            return None
        except UntrustedError as problem:
            return self._refuse(problem)
        if data is not None:
            head = len(MAGIC) + _DIGEST
            body = memoryview(data)[head:]  # a copy would take as long as reading the file did
            if data[: len(MAGIC)] == MAGIC and data[len(MAGIC) : head] == _seal(key, body):
                return body
        with tolerate(OSError, UntrustedError):
            self._files.remove(name)
        return None

    def __contains__(self, key: str) -> bool:
        """Whether there is something under `key`; it may yet turn out to be harmed."""
        if not self.limit:
            return False
        try:
            self._files.status(key + _SUFFIX)
        except OSError as problem:
            if is_from_handler(problem):
                raise
            return False
        except UntrustedError as problem:
            self._refuse(problem)
            return False
        return True

    def put(self, key: str, body: bytes) -> bool:
        """Store bytes under `key`; whether that worked. A full disk is no error."""
        size = len(body) + len(MAGIC) + _DIGEST
        if size > self.limit:
            return False
        try:
            self._files.write(key + _SUFFIX, MAGIC, _seal(key, body), body)
        except OSError as problem:
            if is_from_handler(problem):
                raise
            return False
        except UntrustedError as problem:
            self._refuse(problem)
            return False
        self._written += size
        # Looking at the whole folder costs; do it once per sixteenth of the limit.
        if self._written * 16 > self.limit:
            self._written = 0
            self.trim()
        return True

    def trim(self) -> int:
        """Remove what was used least recently until the folder fits; how many files went."""
        entries: list[tuple[float, int, str]] = []
        for name, status in self._entries():
            if name.endswith(".tmp") and time.time() - status.st_mtime < _TEMPORARY_AGE:
                continue
            entries.append((status.st_mtime, status.st_size, name))
        total = sum(size for _, size, _ in entries)
        removed = 0
        for _, size, name in sorted(entries):
            if total <= self.limit and not name.endswith(".tmp"):
                break
            removed += self._removed(name)
            total -= size
        return removed

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        return sum(self._removed(name) for name, _ in self._entries())

    def summary(self) -> CacheSummary:
        """What the folder holds."""
        sizes = [status.st_size for _, status in self._entries()]
        return CacheSummary(self.folder, len(sizes), sum(sizes), self.limit)

    def _entries(self) -> list[tuple[str, os.stat_result]]:
        """The files that are entries, or were to become entries."""
        found: list[tuple[str, os.stat_result]] = []
        if not self.folder or self._is_refused:
            return found
        try:
            names = self._files.names()
        except OSError as problem:
            if is_from_handler(problem):
                raise
            return []
        except UntrustedError as problem:
            self._refuse(problem)
            return []
        for name in names:
            if name.endswith((_SUFFIX, ".tmp")):
                with tolerate(OSError, UntrustedError):
                    status = self._files.status(name)
                    if not stat.S_ISDIR(status.st_mode):
                        found.append((name, status))
        return found

    def _removed(self, name: str) -> bool:
        with tolerate(OSError, UntrustedError):
            self._files.remove(name)
            return True
        return False

    def _refuse(self, problem: UntrustedError) -> None:
        """Do without the folder from now on, and say so once."""
        self.limit = 0
        if self._is_refused:
            return
        self._is_refused = True  # first, for a warning may be an error
        _warn(
            f"{self.folder} is not used, for {problem.problem}",
            f"{problem.fix}, or " * bool(problem.fix),
        )


def cache_key(*parts: str) -> str:
    """A file name for everything that decides about an entry."""
    joined = blake2b(digest_size=24)
    for part in parts:
        data = part.encode()
        joined.update(len(data).to_bytes(8, "little") + data)
    return joined.hexdigest()


def default_cache() -> DiskCache:
    """The cache of this user."""
    settings = config()
    if settings.cache_dir is not None:
        return _cache_in(settings.cache_dir, settings.cache_bytes)
    if settings.cache_bytes and settings.no_cache_because not in _told:
        _told.add(settings.no_cache_because)  # first, for a warning may be an error
        _warn(settings.no_cache_because)
    return _NONE


@lru_cache(maxsize=1)
def _cache_in(folder: str, limit: int) -> DiskCache:
    # One for all, as it counts what is written until the folder has to be looked at.
    return DiskCache(os.path.join(folder, "programs"), limit)


_NONE = DiskCache("", 0)
_told: set[str] = set()


def _warn(problem: str, first: str = "") -> None:
    from vyre.diagnostics import warn
    from vyre.diagnostics.codes.configuration import NO_CACHE

    warn(NO_CACHE.at(problem=problem, first=first))


def _seal(key: str, body: bytes | memoryview) -> bytes:
    seal = blake2b(key.encode() + b"\0", digest_size=_DIGEST)
    seal.update(body)
    return seal.digest()
