"""The command line: `vyre`, also `python -m vyre`. One command per file."""

from __future__ import annotations

from vyre.cli.program import main

__all__ = ["main"]
