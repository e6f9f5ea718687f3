"""What a pipeline of the suite is: stages, arguments of any length, and a definition in numpy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import vyre as vy
from benchmarks.kernel import Array

Arguments = tuple[Any, ...]
"""What a call takes: arrays and numbers."""


@dataclass(frozen=True)
class PipelineCase:
    """A pipeline, and what a call of it must give.

    `make` makes arguments for a length. `define` gives, for such arguments, the arrays that a call
    changes and those that it returns, in this order; it changes nothing.
    """

    number: int
    """In the list of fifteen pipelines that the suite began with."""
    name: str
    pipeline: Any
    make: Callable[[int], Arguments]
    define: Callable[..., Sequence[Array]]
    changed: Sequence[int] = ()
    """Positions of the arguments that a call changes."""


def copies(arguments: Arguments) -> Arguments:
    """The same arguments in arrays of their own."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def resident(arguments: Arguments, device: str) -> Arguments:
    """The same arguments in arrays of a device."""
    return tuple(vy.array(a, device) if isinstance(a, np.ndarray) else a for a in arguments)


def outcome(case: PipelineCase, arguments: Arguments, returned: Any) -> list[Array]:
    """What a call has changed and returned, as arrays of the host."""
    many = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
    found = [*(arguments[position] for position in case.changed), *many]
    return [each.numpy() if isinstance(each, vy.DeviceArray) else each for each in found]


def disagreement(want: Sequence[Array], got: Sequence[Array]) -> str:
    """The first difference between two outcomes, bit for bit; empty if there is none."""
    if len(want) != len(got):
        return f"{len(got)} arrays, not {len(want)}"
    for number, (one, two) in enumerate(zip(want, got, strict=True)):
        if one.dtype != two.dtype or one.shape != two.shape:
            return f"array {number} is {two.dtype}{two.shape}, not {one.dtype}{one.shape}"
        if one.tobytes() != two.tobytes():
            same = one.reshape(-1).view(np.uint8) == two.reshape(-1).view(np.uint8)
            first = int(np.flatnonzero(~same)[0]) // one.itemsize
            values = f"{two.reshape(-1)[first]}, not {one.reshape(-1)[first]}"
            return f"array {number}, element {first} is {values}"
    return ""
