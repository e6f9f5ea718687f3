"""A folder that this user alone can write to.

What vyre reads from its cache is executed, so it must have been written by this user. Every folder
on the way is opened from the one above it and looked at through its descriptor, so that what was
checked is what is used: a name can be given to something else at any time, an open folder cannot.
Files are opened in the same way, and their owner is asked of the open file.

A folder on the way belongs to this user or to root, and others cannot rename what is in it: they
may not write to it, or it has the sticky bit, as /tmp has. The folder itself belongs to this user,
and only this user writes to it. Symbolic links are followed if they belong to this user or to root.
Windows keeps the folders of users apart by itself, and has none of these calls.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from typing import Final

from vyre.signals import tolerate

_POSIX: Final = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
_SAFE: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = _SAFE | getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY
_ON_THE_WAY: Final = _SAFE | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
"""A folder on the way may be one that this user can pass but not list."""
_READ: Final = _SAFE | os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a named pipe waits for a writer, unless it is told not to."""
_NEW: Final = _SAFE | os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_MOST_LINKS: Final = 40


class UntrustedError(Exception):
    """A folder that others may have written to: what is wrong with it, and how to repair it."""

    def __init__(self, problem: str, fix: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


class PrivateFolder:
    """A folder and the files in it, by name. It is made, with mode 0700, when something is written.

    All methods raise `UntrustedError` if others may write to it, and `OSError` if it cannot be
    used, or is not there.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: tuple[str, int, int] | None = None
        """Where it was found to be, without links, and which folder that is."""

    def read(self, name: str, *, used: bool = False) -> bytes | None:
        """The contents of a file; None unless this user wrote it. `used` sets its time to now."""
        start, folder = self._enter()
        try:
            file = os.open(start + name, _READ, dir_fd=folder)
            try:
                if not _is_own_file(os.fstat(file)):
                    return None
                if used:
                    with tolerate(OSError):  # it may be on a disk that cannot be written to
                        os.utime(start + name if folder is None else file)
                with open(file, "rb", buffering=0, closefd=False) as contents:
                    return contents.readall()
            finally:
                os.close(file)
        finally:
            _leave(folder)

    def write(self, name: str, *parts: bytes) -> None:
        """Put a file there, whole or not at all: under a name that is its own, then renamed."""
        start, folder = self._enter(create=True)
        temporary = f".{name}.{os.urandom(8).hex()}.tmp"
        try:
            file = os.open(start + temporary, _NEW, 0o600, dir_fd=folder)
            try:
                with open(file, "wb") as contents:
                    contents.writelines(parts)
                os.replace(start + temporary, start + name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with tolerate(OSError):
                    os.unlink(start + temporary, dir_fd=folder)
                raise
        finally:
            _leave(folder)

    def remove(self, name: str) -> None:
        """Remove a file."""
        start, folder = self._enter()
        try:
            os.unlink(start + name, dir_fd=folder)
        finally:
            _leave(folder)

    def status(self, name: str) -> os.stat_result:
        """What the system knows of a file, or of a link if it is one."""
        start, folder = self._enter()
        try:
            return os.stat(start + name, dir_fd=folder, follow_symlinks=False)
        finally:
            _leave(folder)

    def names(self) -> list[str]:
        """The names of everything in it."""
        start, folder = self._enter()
        try:
            return os.listdir(start if folder is None else folder)
        finally:
            _leave(folder)

    def make(self) -> str:
        """Have it exist; its place, without links."""
        start, folder = self._enter(create=True)
        _leave(folder)
        return start if self._found is None else self._found[0]

    def _enter(self, *, create: bool = False) -> tuple[str, int | None]:
        """What names begin with, and the open folder that they are relative to."""
        if not os.path.isabs(self.path):
            raise UntrustedError(f"the path {self.path!r} is not absolute")
        if not _POSIX:
            if create:
                os.makedirs(self.path, exist_ok=True)
            return os.path.join(self.path, ""), None
        if self._found is not None:
            place, *identity = self._found
            with tolerate(OSError):
                folder = os.open(place, _FOLDER)
                status = os.fstat(folder)
                if [status.st_dev, status.st_ino] == identity and not _problem(status, place):
                    return "", folder
                os.close(folder)
        place, folder = _open_trusted(self.path, create)
        status = os.fstat(folder)
        self._found = place, status.st_dev, status.st_ino
        return "", folder


def _leave(folder: int | None) -> None:
    if folder is not None:
        os.close(folder)


def _is_own_file(status: os.stat_result) -> bool:
    """True if this user wrote it, and no other user could."""
    if not stat.S_ISREG(status.st_mode):
        return False
    return not _POSIX or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _open_trusted(path: str, create: bool) -> tuple[str, int]:
    """The folder at an absolute path, opened step by step, and its path without links."""
    place, folder = "/", os.open("/", _ON_THE_WAY)
    waiting = _steps(path)
    links = 0
    try:
        while waiting:
            _check_on_the_way(os.fstat(folder), place)
            name = waiting.pop()
            try:
                inner = _open_step(name, folder, create)
            except NotADirectoryError:
                links += 1
                target = _link_in(folder, name, os.path.join(place, name))
                if links > _MOST_LINKS:
                    raise OSError(f"too many symbolic links in {path}") from None
                waiting += _steps(target)
                if not target.startswith("/"):
                    continue
                name, inner = "/", os.open("/", _ON_THE_WAY)
            # In this order: what is interrupted in between must not be closed twice.
            outer, folder = folder, inner
            os.close(outer)
            place = os.path.normpath(os.path.join(place, name))
        return place, _open_last(folder, place)
    finally:
        os.close(folder)


def _steps(path: str) -> list[str]:
    """The names of a path, the first of them last."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _open_step(name: str, folder: int, create: bool) -> int:
    try:
        return os.open(name, _ON_THE_WAY, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    except OSError:
        if _is_link(name, folder):  # as some systems say it
            raise NotADirectoryError(name) from None
        raise
    with suppress(FileExistsError):  # another process was quicker
        os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, _ON_THE_WAY, dir_fd=folder)


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _open_last(folder: int, place: str) -> int:
    """The last folder, for reading: it belongs to this user alone."""
    opened = os.open(".", _FOLDER, dir_fd=folder)
    status = os.fstat(opened)
    problem = _problem(status, place)
    if problem is not None:
        os.close(opened)
        raise problem
    if status.st_mode & 0o077:
        with tolerate(OSError):  # on a disk that cannot be written to
            os.fchmod(opened, 0o700)
    return opened


def _link_in(folder: int, name: str, place: str) -> str:
    """Where a symbolic link leads; an error if another user made it, or if it is none."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        raise NotADirectoryError(f"{place} is not a folder")
    if status.st_uid not in _trusted_owners():
        raise _of_another(place, status.st_uid, "the link ")
    return os.readlink(name, dir_fd=folder)


def _check_on_the_way(status: os.stat_result, place: str) -> None:
    """Raise unless what is in a folder stays there, whatever others do."""
    if status.st_uid not in _trusted_owners():
        raise _of_another(place, status.st_uid)
    if not status.st_mode & stat.S_ISVTX:
        problem = _writable(status, place)
        if problem is not None:
            raise problem


def _problem(status: os.stat_result, place: str) -> UntrustedError | None:
    """Why a folder cannot be used, if so."""
    if status.st_uid != os.geteuid():
        return _of_another(place, status.st_uid)
    return _writable(status, place)


def _writable(status: os.stat_result, place: str) -> UntrustedError | None:
    everybody = bool(status.st_mode & stat.S_IWOTH)
    group = bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid)
    if not (everybody or group):
        return None
    from shlex import quote

    who = "every user" if everybody else f"the users of the group {status.st_gid}"
    bits = "g" * group + "o" * everybody
    return UntrustedError(f"{who} may write to {place}", f"run `chmod {bits}-w {quote(place)}`")


def _of_another(place: str, owner: int, what: str = "") -> UntrustedError:
    return UntrustedError(
        f"{what}{place} belongs to the user {owner}, and this process runs as {os.geteuid()}"
    )


def _trusted_owners() -> tuple[int, ...]:
    # In a container that does not map root, the owner of / is what root is called.
    return os.geteuid(), 0, _owner_of_everything()


@cache
def _owner_of_everything() -> int:
    return os.stat("/").st_uid


@cache
def _is_own_group(group: int) -> bool:
    """Whether a group is root's, or the one that many systems make for each user."""
    if group == 0:
        return True
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    mine = group == user.pw_gid and found.gr_name == user.pw_name
    return mine and set(found.gr_mem) <= {user.pw_name}
