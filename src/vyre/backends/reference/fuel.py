"""The fuel and deadline of an execution: what it has used, and when it must end."""

from __future__ import annotations

import time

from vyre.diagnostics import DeadlineError
from vyre.diagnostics.codes import execution as codes

_CLOCK_EVERY = 16


class Meter:
    """Counts statements times invocations; raises when fuel or time is gone."""

    __slots__ = ("_calls", "_end", "_fuel", "_seconds", "spent")

    def __init__(self, fuel: int | None, seconds: float | None) -> None:
        self.spent = 0
        self._fuel = float("inf") if fuel is None else fuel
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._calls = 0

    def spend(self, lanes: int) -> None:
        """Count one statement executed by this many invocations."""
        self.spent += lanes
        if self.spent > self._fuel:
            raise DeadlineError(codes.OUT_OF_FUEL.at(fuel=self._fuel))
        if self._end is not None:
            self._calls += 1
            if self._calls % _CLOCK_EVERY == 0 and time.monotonic() > self._end:
                raise DeadlineError(codes.DEADLINE.at(seconds=self._seconds))
