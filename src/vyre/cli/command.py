"""What a command is, and which there are.

A command is a module with `SUMMARY`, `EXAMPLE`, `arguments(parser)` and `run(options)`, which
gives the exit code. The module is imported only when the command is used.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Protocol, cast

DONE = 0
"""Everything went well."""
FAILED = 1
"""What was asked for failed: a program has errors, results differ, a device is missing."""
MISUSED = 2
"""The command line itself is wrong."""
INTERRUPTED = 130
"""Stopped from the keyboard."""

COMMANDS: dict[str, str] = {
    "devices": "devices",
    "check": "check",
    "show": "show",
    "opt": "opt",
    "run": "run",
    "bench": "bench",
    "conform": "conform",
    "cache": "cache",
    "export": "export",
    "demo": "demo",
}
"""Command to the module of this package that holds it."""


class Command(Protocol):
    """What the module of a command offers."""

    SUMMARY: str
    EXAMPLE: str

    @staticmethod
    def arguments(parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""
        ...

    @staticmethod
    def run(options: argparse.Namespace) -> int:
        """Do it; gives the exit code."""
        ...


def command(name: str) -> Command:
    """The module of a command."""
    return cast("Command", importlib.import_module(f"vyre.cli.{COMMANDS[name]}"))


class UsageError(Exception):
    """The command line asks for something that makes no sense; shown with exit code 2."""
