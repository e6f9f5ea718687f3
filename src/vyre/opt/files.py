"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os

from vyre.signals import tolerate


def write_atomically(path: str, text: str) -> None:
    """Put `text` into `path`: under a temporary name beside it first, then renamed."""
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = _open_temporary(folder, name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        with tolerate(OSError):
            os.unlink(temporary)
        raise


_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def _open_temporary(folder: str, name: str) -> tuple[int, str]:
    """A new file under an unguessable name; `tempfile` is dear to import."""
    path = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")
    return os.open(path, _NEW, 0o600), path
