"""Rows of hints as bytes: what is not as it was written is no row at all."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, cast

from vyre.digests import blake2b
from vyre.signals import is_from_handler

Row = list[Any]
"""A region, three sums and a maximum, then weight, weighted time and time of the last sample."""
_FORMAT = "vyre-hot-paths-3"
_INTEGERS, _FLOATS = range(1, 5), range(5, 8)


def to_bytes(rows: list[Row]) -> bytes:
    """The rows, for `from_bytes`."""
    body = json.dumps(rows)
    made = json.dumps({"format": _FORMAT, "digest": _digest(body), "regions": body})
    return made.encode()


def from_bytes(data: bytes) -> list[Row]:
    """What `to_bytes` was given; no rows if it is anything else."""
    try:
        found = cast("object", json.loads(data))
        if not isinstance(found, dict):
            return []
        fields = cast("dict[str, Any]", found)
        body = fields.get("regions")
        if fields.get("format") != _FORMAT or not isinstance(body, str):
            return []
        rows = cast("object", json.loads(body)) if fields.get("digest") == _digest(body) else None
    except (ValueError, RecursionError) as problem:
        if is_from_handler(problem):
            raise
        return []
    # The digest tells of damage, not of where a file comes from.
    if not isinstance(rows, list):
        return []
    listed = cast("list[Row]", rows)
    return listed if all(map(_is_row, listed)) else []


def _is_row(row: object) -> bool:
    if not isinstance(row, list):
        return False
    values = cast("Row", row)
    return (
        len(values) == _FLOATS.stop
        and isinstance(values[0], str)
        and all(type(values[n]) is int and values[n] >= 0 for n in _INTEGERS)
        and all(type(values[n]) in (int, float) and isfinite(values[n]) for n in _FLOATS)
    )


def _digest(body: str) -> str:
    return blake2b(body.encode(), digest_size=32).hexdigest()


__all__ = ["Row", "from_bytes", "to_bytes"]
