"""Names of buffers and variables: which are valid, and new ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Container
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


def numbered_name(base: str, taken: Container[str], separator: str, first: int) -> str:
    """`base` and a number, counting from `first`, such that the name is not taken.

    All generated names go through here, or keep the next number of each base (`rewrite.names`).
    Callers differ in separator and first number: both show in program text and golden files.
    """
    number = first
    while (name := f"{base}{separator}{number}") in taken:
        number += 1
    return name


def unused_name(base: str, taken: Container[str], separator: str, first: int) -> str:
    """`base` itself unless it is taken, else `numbered_name`."""
    return numbered_name(base, taken, separator, first) if base in taken else base
