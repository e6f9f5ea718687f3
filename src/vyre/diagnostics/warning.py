"""Problems that stop nothing, told through Python's own warnings."""

from __future__ import annotations

import sys

from vyre.diagnostics.diagnostic import Diagnostic

_OWN = "vyre."


class VyreWarning(UserWarning):
    """Something that vyre goes on without; `code` and `fix` say what, and what to do."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    @property
    def code(self) -> str:
        """The stable code of the problem."""
        return self.diagnostic.code

    @property
    def fix(self) -> str:
        """What to do about it."""
        return self.diagnostic.fix


def warn(diagnostic: Diagnostic) -> None:
    """Warn, at the line outside of vyre that led to it."""
    import warnings

    warnings.warn(VyreWarning(diagnostic), stacklevel=_depth())


def _depth() -> int:
    """How many calls lie between `warn` and what is not part of vyre."""
    depth, frame = 1, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
        depth, frame = depth + 1, frame.f_back
    return depth
