"""Passes and backends of installed packages: which there are, and which could not be used."""

from __future__ import annotations

import sys

from vyre.config import config
from vyre.installed import Extension, installed
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """A pass or a backend that a package brings and that cannot be used."""

    extension: Extension
    reason: str
    remedy: str

    @property
    def name(self) -> str:
        """By which it would have been known."""
        return self.extension.name

    @property
    def origin(self) -> str:
        """The package it comes from."""
        return f"the package {self.extension.package} {self.extension.version}".rstrip()


def extensions(group: str) -> list[Extension]:
    """What installed packages register in a group, by name, less what `VYRE_WITHOUT` names."""
    without = config().without
    found = installed(tuple(sys.path)).extensions
    wanted = [each for each in found if each.group == group and each.name not in without]
    return sorted(wanted, key=lambda each: (each.name, each.package))


def missing(extension: Extension, problem: BaseException | str) -> Missing:
    """What is said of an extension that cannot be used."""
    reason = in_a_line(problem) if isinstance(problem, BaseException) else problem
    return Missing(extension, reason, how_to_leave_out(extension))


def in_a_line(problem: BaseException) -> str:
    """An exception of code that is not vyre's: its type, and the first line of what it says."""
    text = str(problem).strip().split("\n", 1)[0]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def how_to_leave_out(extension: Extension) -> str:
    """What a person does about an extension that is in the way."""
    return (
        f"reinstall or uninstall the package {extension.package}, "
        f"or leave it out with VYRE_WITHOUT={extension.name}"
    )
