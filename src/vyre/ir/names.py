"""What can name a buffer or a variable."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes
from vyre.signals import is_from_handler

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,254}+", re.ASCII)
_NAMES = re.compile(rf"(?:{_NAME.pattern}\n)*+", re.ASCII)


def checked_name(name: object, what: str) -> str:
    """`name`, if it can name something."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise BuildError(codes.BAD_NAME.at(name=name, what=what))


def are_names(found: Collection[object]) -> bool:
    """Whether each of them can name something; a tenth of the time of asking one by one."""
    try:
        lines = "\n".join([*cast("Collection[str]", found), ""])
    except TypeError as problem:
        if is_from_handler(problem):
            raise
        return False
    return lines.count("\n") == len(found) and _NAMES.fullmatch(lines) is not None
