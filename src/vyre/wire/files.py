"""Programs in files: `.vyb` holds bytes, `.vy` text. A file is written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from vyre.diagnostics import WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.program import Program
from vyre.signals import is_from_handler, tolerate


def save(program: Program, path: str | os.PathLike[str]) -> None:
    """Write a program to a file, in the form that the file's suffix says."""
    target = Path(path)
    if _is_text(target):
        data = str(program).encode()
    else:
        data = program.to_wire()
    try:
        write_whole(target, data)
    except OSError as error:
        if is_from_handler(error):
            raise
        raise _failed(target, "written", error) from error


def load(path: str | os.PathLike[str]) -> Program:
    """Read a program from a file, in the form that the file's suffix says."""
    source = Path(path)
    is_text = _is_text(source)
    try:
        data = source.read_bytes()
    except OSError as error:
        if is_from_handler(error):
            raise
        raise _failed(source, "read", error) from error
    if not is_text:
        return Program.from_wire(data)
    try:
        return Program.parse(data.decode(), str(source))
    except UnicodeDecodeError as error:
        raise _failed(source, "read", error) from error


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` in a file so that others see the old contents or the new ones, never a part."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:64]}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # Temporary files are private; the result has the permissions of any new file.
        os.chmod(temporary, _mode(path))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    with tolerate(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    # The rename itself reaches the disk with the folder; not every file system can do that.
    with tolerate(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_text(path: Path) -> bool:
    if path.suffix not in (".vy", ".vyb"):
        raise WireError(codes.UNKNOWN_SUFFIX.at(path=path))
    return path.suffix == ".vy"


def _failed(path: Path, done: str, error: Exception) -> WireError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return WireError(codes.FILE_FAILED.at(path=path, done=done, reason=reason))
