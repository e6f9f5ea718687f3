"""Counts that may only fall: a table of limits, compared with what is there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping


def check(counts: Mapping[str, int], limits: Mapping[str, int], table: str, how: str) -> None:
    """Fail if a count exceeds its limit; warn if a limit in `table` can be lowered."""
    higher = [
        f"{name}: {count} where at most {limits.get(name, 0)} are allowed"
        for name, count in sorted(counts.items())
        if count > limits.get(name, 0)
    ]
    assert not higher, "\n".join([*higher, how])
    for name, limit in sorted(limits.items()):
        count = counts.get(name, 0)
        if count < limit:
            warnings.warn(
                f"lower the number of {name} in {table}: {limit} -> {count}", stacklevel=2
            )
