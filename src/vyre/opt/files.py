"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress


def write_atomically(path: str, text: str) -> None:
    """Put `text` into `path`: under a temporary name beside it first, then renamed."""
    import tempfile  # dear to import, and most processes write no such file

    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
