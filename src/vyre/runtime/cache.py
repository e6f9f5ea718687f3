"""Compiled programs on disk, shared by all processes of a user.

An entry is one file, named by a digest of everything that decides about its contents, written
under a temporary name and renamed, so that it is whole or not there. It begins with a magic
number and the digest of its body; whatever does not match is a miss and is removed. The folder is
kept under a size by removing what was used least recently.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.config import config
from vyre.digests import blake2b
from vyre.opt.files import open_temporary
from vyre.record import dataclass

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
        self.folder = str(folder)
        self.limit = limit
        self._start = os.path.join(folder, "")
        self._written = 0

    def get(self, key: str) -> memoryview | None:
        """The bytes stored under `key`, if they are there and unharmed."""
        if not self.limit:
            return None
        place = self._place(key)
        try:
            with open(place, "rb", buffering=0) as file:
                data = file.readall()
        except OSError:
            return None
        head = len(MAGIC) + _DIGEST
        body = memoryview(data)[head:]  # a copy would take as long as reading the file did
        stamp = data[len(MAGIC) : head]
        if data[: len(MAGIC)] != MAGIC or stamp != _seal(key, body):
            with suppress(OSError):
                os.unlink(place)
            return None
        with suppress(OSError):
            os.utime(place)
        return body

    def __contains__(self, key: str) -> bool:
        """Whether there is something under `key`; it may yet turn out to be harmed."""
        return bool(self.limit) and os.path.exists(self._place(key))

    def put(self, key: str, body: bytes) -> bool:
        """Store bytes under `key`; whether that worked. A full disk is no error."""
        size = len(body) + len(MAGIC) + _DIGEST
        if size > self.limit:
            return False
        try:
            os.makedirs(self.folder, exist_ok=True)
            handle, temporary = open_temporary(self.folder, key)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(MAGIC + _seal(key, body) + body)
                os.replace(temporary, self._place(key))
            except OSError:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError:
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
        for path in self._files():
            with suppress(OSError):
                status = os.stat(path)
                if path.endswith(".tmp") and time.time() - status.st_mtime < _TEMPORARY_AGE:
                    continue
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        removed = 0
        for _, size, path in sorted(entries):
            if total <= self.limit and not path.endswith(".tmp"):
                break
            with suppress(OSError):
                os.unlink(path)
                removed += 1
            total -= size
        return removed

    def clear(self) -> int:
        """Remove every entry; how many there were."""
        removed = 0
        for path in self._files():
            with suppress(OSError):
                os.unlink(path)
                removed += 1
        return removed

    def summary(self) -> CacheSummary:
        """What the folder holds."""
        sizes: list[int] = []
        for path in self._files():
            with suppress(OSError):
                sizes.append(os.stat(path).st_size)
        return CacheSummary(self.folder, len(sizes), sum(sizes), self.limit)

    def _files(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [self._start + name for name in names if name.endswith((_SUFFIX, ".tmp"))]

    def _place(self, key: str) -> str:
        # Not a `Path`: making one takes longer than looking whether there is a file.
        return f"{self._start}{key}{_SUFFIX}"


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
    return _cache_in(settings.cache_dir, settings.cache_bytes)


@lru_cache(maxsize=1)
def _cache_in(folder: str, limit: int) -> DiskCache:
    # One for all, as it counts what is written until the folder has to be looked at.
    return DiskCache(os.path.join(folder, "programs"), limit)


def _seal(key: str, body: bytes | memoryview) -> bytes:
    seal = blake2b(key.encode() + b"\0", digest_size=_DIGEST)
    seal.update(body)
    return seal.digest()
