"""Programs → diagnostics. `check` lists every problem of a program, `validate` raises on errors."""

from __future__ import annotations

from vyre.check.checker import check, validate

__all__ = ["check", "validate"]
