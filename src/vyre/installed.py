"""Whether an installed package extends vyre, found out without loading `importlib.metadata`.

Its import and its look at every package cost more than compiling a small kernel does, and nearly
always the answer is that there is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable


def may_extend(group: str, paths: Iterable[str]) -> bool:
    """Whether a package in these folders may have an entry point of the group.

    Never no when there is one.
    """
    wanted = f"[{group}]".encode()
    for folder in paths:
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        except OSError:
            return True  # an archive, or something else that only the import system can read
        for name in names:
            if name.endswith((".dist-info", ".egg-info", ".egg")):
                found = _entry_points_of(os.path.join(folder, name))
                if found is None or wanted in found:
                    return True
    return False


def _entry_points_of(package: str) -> bytes | None:
    """The text that declares a package's entry points; None when it cannot be had so simply."""
    if package.endswith(".egg"):
        return None
    try:
        with open(os.path.join(package, "entry_points.txt"), "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return None
