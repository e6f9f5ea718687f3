"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count


def write_atomically(path: str, text: str) -> None:
    """Put `text` into `path`: under a temporary name beside it first, then renamed."""
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = open_temporary(folder, name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


_numbers = count()


def open_temporary(folder: str, name: str) -> tuple[int, str]:
    """A new file, and where it is, for this call alone; `tempfile` is dear to import.

    Its name ends in `.tmp`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, f".{name}.{os.getpid()}-{next(_numbers)}.tmp")
        try:
            return os.open(path, flags, 0o600), path
        except FileExistsError:  # left by a process that had the same number
            continue
