"""Signal handlers that launch something while vyre itself is being imported.

Modules are imported when they are first needed, and a handler may come in the middle of one. What
it would launch with is half there then, and the same thread cannot wait for the rest.
"""

from __future__ import annotations

import importlib
import sys
from types import FrameType

from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes

_IMPORT_SYSTEM = frozenset(
    {
        *("importlib", "importlib._bootstrap", "importlib._bootstrap_external"),
        *("_frozen_importlib", "_frozen_importlib_external"),
    }
)
_under_way: object = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", True)
"""The locks of modules that are being imported. Looking at every frame takes some microseconds."""


def refuse_while_loading() -> None:
    """Raise an error if this thread is in the middle of an import that vyre has begun."""
    if not _under_way:
        return
    importing = False
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if module in _IMPORT_SYSTEM:
            importing = True
        elif importing:
            importing = False
            # The command line imports the files of users, which may launch what they like.
            name = str(module)
            if name.partition(".")[0] == "vyre" and not name.startswith("vyre.cli"):
                raise DispatchError(codes.LAUNCHED_WHILE_LOADING.at(module=name))
        frame = frame.f_back
