"""A dispatch like the one before: the same arrays on the device, the same wish for a grid.

Loops launch the same kernel on the same resident arrays again and again. Everything that a dispatch
checks was found right the first time, so it is remembered, and only looked at again when the
caller brings something else.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from vyre.driver.backend import Argument
from vyre.driver.grid import Grid
from vyre.record import dataclass
from vyre.runtime.arguments import Binding
from vyre.runtime.device_array import DeviceArray

Wish = tuple[object, int | None]
"""What the caller said about the grid: `grid` and `elements`."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What can be used again."""

    arrays: tuple[tuple[str, weakref.ref[DeviceArray]], ...]
    wish: Wish
    arguments: list[Argument]
    grid: Grid
    touched: int
    outputs: tuple[str, ...]

    def matches(self, given: Mapping[str, object], wish: Wish) -> bool:
        """Whether a dispatch asks for the same."""
        if len(given) != len(self.arrays) or wish != self.wish:
            return False
        for name, known in self.arrays:
            array = known()
            if array is None or given.get(name) is not array or array.is_free:
                return False
        return True

    def results(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The outputs: arrays that the caller gave."""
        return {name: given[name] for name in self.outputs}


def remember(
    binding: Binding, given: Mapping[str, object], wish: Wish, grid: Grid, names: tuple[str, ...]
) -> Repeated | None:
    """What to use again, if every buffer is bound to an array that lives on the device."""
    arrays = [(name, value) for name, value in given.items() if isinstance(value, DeviceArray)]
    if len(arrays) != len(given) or set(names) != set(given):
        return None
    if not isinstance(wish[0], (int, tuple, type(None))):
        return None
    return Repeated(
        tuple((name, weakref.ref(array)) for name, array in arrays),
        wish,
        [binding.arguments[name] for name in names],
        grid,
        binding.touched,
        tuple(binding.outputs),
    )
