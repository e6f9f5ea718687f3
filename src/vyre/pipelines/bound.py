"""A pipeline with its arguments: what a loop on the host calls again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from vyre.config import config
from vyre.pipelines.arguments import Arguments
from vyre.pipelines.recording import Recording

R = TypeVar("R")


class Runs(Protocol):
    """How a pipeline runs a call whose arguments are checked."""

    def __call__(
        self, given: Arguments, device: str | None, deadline: float | None
    ) -> tuple[Any, Recording | None]:
        """What the call returns, and how it is replayed, if it can be."""
        ...


class BoundPipeline(Generic[R]):
    """`bound = find.bind(text, found)`: then `bound()` means `find(text, found)`.

    Arguments are checked once. The arrays may hold other values in each call.
    """

    def __init__(
        self,
        given: Arguments,
        names: tuple[str, ...],
        device: str | None,
        run: Runs,
        finish: Callable[[bool, Any], Any],
    ) -> None:
        self._given = given
        self._device = device
        self._run = run
        self._finish = finish
        self._args = [given.arrays.get(name, given.numbers.get(name)) for name in names]
        self._arrays = list(given.arrays.values())
        self._shapes = [each.shape for each in self._arrays]
        self._recording: Recording | None = None

    def __call__(self, *, deadline: float | None = None) -> R:
        """Run the pipeline on its arguments."""
        known = self._recording
        # numpy lets an array change its shape.
        same = [each.shape for each in self._arrays] == self._shapes
        if known is not None and same and known.is_current() and not config().check:
            return self._finish(known.is_on_host, known.replay(self._args, deadline))
        found, self._recording = self._run(self._given, self._device, deadline)
        self._shapes = [each.shape for each in self._arrays]
        return found


__all__ = ["BoundPipeline"]
