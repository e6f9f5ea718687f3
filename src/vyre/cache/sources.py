"""The files that code consists of: what they contain, known without reading them every time.

Reading all of vyre takes longer than a start from the cache may. So what was read once is noted in
the cache under what the system knows of the files: where they are, their sizes, and when they and
their descriptions were changed. A file that was changed a moment ago may be changed again without
anything of this changing, so nothing is noted of files as young as that. Which files there are is
noted as well (see `listings`), for looking into every folder takes as long as all else.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Collection

from vyre.cache.disk import cache_key, default_cache
from vyre.cache.listings import YOUNG_NS, Listing, listing
from vyre.digests import blake2b
from vyre.signals import is_from_handler

_YOUNG_NS = YOUNG_NS
CODE = (".py", ".pyc", ".ll", ".wgsl", ".so", ".pyd", ".dll", ".dylib")
_LARGE = 64 << 20
"""Bytes of data that are read to know them; of more, size and time are enough. Code is read."""
_HAS_CHANGES = sys.platform != "win32"
"""Whether the system knows when anything of a file was changed, be it its owner or its name."""


class Files:
    """Files as they are now, by the name that they go by in digests."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._trees: list[tuple[str, str]] = []
        """For each, the folder that it was found in, and the name that stands for that."""
        self._numbers: list[int] = []
        """Size, time of the last change of the contents, of anything, and number of each file."""
        self.are_all = True
        """Whether everything could be looked at that was asked for."""
        self._signature = ""

    def add(self, name: str, path: str) -> None:
        """One file; one that is not there has nothing in it."""
        try:
            status = os.stat(path)
        except OSError as problem:
            if is_from_handler(problem):
                raise
            path, numbers = "", (0, 0, 0, 0)
        else:
            numbers = (status.st_size, status.st_mtime_ns, _changed(status), status.st_ino)
        self._signature = ""
        self._paths.append(path)
        self._trees.append((path, name))
        self._numbers += numbers

    def add_tree(
        self,
        name: str,
        folder: str,
        endings: tuple[str, ...],
        without: Collection[str] = (),
    ) -> None:
        """Every file with one of the endings in a folder and below it; none that is hidden."""
        if not os.path.isdir(folder):
            archive = _archive_of(folder)
            self.add(name, archive)
            self.are_all = self.are_all and bool(archive)
            return
        try:
            self._add_listed((folder, name), listing(folder, endings, without))
        except OSError as problem:  # it may be being changed now
            if is_from_handler(problem):
                raise
            self.are_all = False

    def _add_listed(self, tree: tuple[str, str], found: Listing) -> None:
        # On the way of every first launch, with some hundred files: nothing is done twice here.
        numbers: list[int] = []
        for path in found.files:
            status = os.stat(path)
            numbers += (
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns if _HAS_CHANGES else status.st_mtime_ns,
                status.st_ino,
            )
        self._signature = ""
        self._paths += found.files
        self._trees += [tree] * len(found.files)
        self._numbers += numbers

    @property
    def changed_ns(self) -> int:
        """When the one that was changed last was changed, or what the system knows of it."""
        return max(self._numbers[2::4], default=0)

    def signature(self) -> str:
        """What the system knows of the files; others if one of them was changed."""
        if not self._signature:
            names = sorted(name for _, name in set(self._trees))
            paths = "\0".join([*names, "", *self._paths]).encode(errors="surrogateescape")
            numbers = struct.pack("QqqQ" * len(self._paths), *self._numbers)
            self._signature = blake2b(paths + numbers, digest_size=24).hexdigest()
        return self._signature

    def digest(self) -> str:
        """A digest of their names and contents; `OSError` if one cannot be read."""
        store = default_cache()
        key = cache_key("contents 2", self.signature())
        known = store.get(key)
        if known is not None:
            return bytes(known).decode("ascii", "replace")
        is_young = time.time_ns() - self.changed_ns < _YOUNG_NS
        contents = blake2b(digest_size=24)
        found = zip(self._trees, self._paths, self._numbers[::4], self._numbers[1::4], strict=True)
        for name, path, size, changed in sorted(
            (name + path[len(tree) :], path, size, changed)
            for (tree, name), path, size, changed in found
        ):
            is_read = size <= _LARGE or path.endswith(CODE)
            data = _contents(path) if is_read else f"{size} {changed}".encode()
            label = name.encode(errors="surrogateescape")
            contents.update(struct.pack("<qq", len(label), len(data)) + label + data)
        made = contents.hexdigest()
        if not is_young:
            store.put(key, made.encode())
        return made


def _archive_of(folder: str) -> str:
    """The file that holds a folder which only the import system can read; empty if none does."""
    while folder and not os.path.isfile(folder):
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return folder


def _changed(status: os.stat_result) -> int:
    return status.st_ctime_ns if _HAS_CHANGES else status.st_mtime_ns


def _contents(path: str) -> bytes:
    if not path:
        return b""
    with open(path, "rb", buffering=0) as file:
        return file.readall()
