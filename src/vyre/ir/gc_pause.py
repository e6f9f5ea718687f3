"""Python's cycle collector, and why it rests while large trees are made.

Trees have no cycles. The collector does not know that: while a reader makes a million nodes it
walks over all of them again and again, which costs as much as the reading itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No cycle collection inside; reference counting goes on as always."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
