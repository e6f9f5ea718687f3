"""How many random programs a run takes: a part of them, and all of them with `make test-all`."""

from __future__ import annotations

import os

PART = 1 if os.environ.get("TEST_PROGRAMS") == "all" else 4


def share(count: int) -> int:
    """How many of `count` programs, or of groups of them, this run takes."""
    return -(-count // PART)
