"""A dispatch like the one before: the same arrays on the device, the same wish for a grid.

Loops launch the same kernel on the same resident arrays again and again. Everything that a dispatch
checks was found right the first time, so it is remembered, and only looked at again when the
caller brings something else.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, cast

from vyre.config import config
from vyre.driver import routing
from vyre.driver.backend import Argument
from vyre.driver.grid import Grid
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, hint_keys
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.arguments import Binding, Given
from vyre.runtime.device_array import DeviceArray

if TYPE_CHECKING:
    from vyre.driver.routing import Route
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram

Wish = tuple[object, int | None]
"""What the caller said about the grid: `grid` and `elements`."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What can be used again."""

    arrays: tuple[tuple[str, weakref.ref[DeviceArray]], ...]
    wish: Wish
    arguments: tuple[Argument, ...]
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
        outputs = self.outputs
        if len(outputs) == 1:
            return {outputs[0]: given[outputs[0]]}
        return {name: given[name] for name in outputs}


_LAUNCHES = 64
"""Dispatches in a row that ask nothing: then there may be better code for the program."""


class Latest:
    """The last dispatch of a program, with all that made it right; `run` begins by looking here."""

    __slots__ = ("_compiled", "_left", "_names", "_route")

    def __init__(self, _: Program) -> None:
        self._compiled: CompiledProgram | None = None
        self._route: Route | None = None
        self._names: tuple[str, ...] = ()
        self._left = 0

    def set(self, compiled: CompiledProgram) -> None:
        """After a dispatch that looked at everything."""
        self._compiled, self._route, self._left = compiled, compiled.route, _LAUNCHES
        self._names = hint_keys(compiled.compilation.source)

    def again(self, given: Given, wish: Wish, device: str | None) -> dict[str, Any] | None:
        """The outputs of the same launch once more, if a dispatch asks for that."""
        compiled = self._compiled
        if compiled is None or not self._left or type(given) is not dict or config().check:
            return None
        named = cast("dict[str, object]", given)
        known = compiled.repeated
        if known is None or not known.matches(named, wish):
            return None
        if routing.choose.cache.get(device) is not self._route:
            return None
        self._left -= 1
        started = perf_counter_ns()
        record = compiled.launch_bound(known.arguments, known.grid, None)
        spent = record.kernel_ns
        if spent is None:
            spent = perf_counter_ns() - started
        if spent >= DEFAULT_HOT_THRESHOLD_NS:
            # It may become hot, so better code may be asked for.
            self._left = 0
        telemetry.record_names(self._names, spent, known.touched)
        if record.printed:
            telemetry.show(record.printed)
        return known.results(named)


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
        tuple(binding.arguments[name] for name in names),
        grid,
        binding.touched,
        tuple(binding.outputs),
    )
