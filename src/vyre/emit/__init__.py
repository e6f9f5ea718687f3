"""What source-emitting backends share: lines, names, and parentheses where they are needed."""

from __future__ import annotations

from vyre.emit.names import Names
from vyre.emit.precedence import Level, parenthesised
from vyre.emit.writer import Writer

__all__ = ["Level", "Names", "Writer", "parenthesised"]
