"""A call of a kernel like one before: arrays of the same form, numbers of the same types.

Loops call a kernel with the same arrays again and again, or with others of their size, and with
numbers that change. What a call finds out about its arguments, it remembers: which program and grid
they come to, what of the outputs has to be cleared, and a launch that takes the arrays as they are.
The device sees to it that they do not share memory. Where arrays differ from those before in
nothing but their lengths, only what depends on these is found out anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from vyre.config import config
from vyre.diagnostics import TrapError
from vyre.driver import routing
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, dispatch_keys
from vyre.record import dataclass
from vyre.runtime.call_forms import Forms, forms_of
from vyre.runtime.clearing import Outs, packed_runs
from vyre.runtime.kernel_grid import ByNumbers, deciding_numbers, launch_grid
from vyre.runtime.kernel_outputs import outputs_of
from vyre.runtime.memory_pool import Held
from vyre.runtime.repeated import is_plain, is_repeatable, spent_on
from vyre.runtime.traps import located

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Extents, Grid
    from vyre.driver.routing import Route
    from vyre.front import KernelSource
    from vyre.front.outside import Outside
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.run import Dispatched

Wish = tuple[str | None, "Extents", "Extents", float | None]
"""What the caller said: `device`, `grid`, `elements` and `deadline`."""

_REMEMBERED: Final = 16
"""Calls of a kernel that are remembered: the levels of a pyramid, the rounds of a reduction."""
_LAUNCHES: Final = 256
"""Calls in a row that look at nothing else: then there may be better code for the program."""
_WISHES: Final = (type(None), str, int, float, tuple)


@dataclass(slots=True)
class _Basis:
    """What calls have in common that differ in their arrays and numbers."""

    program: Program
    compiled: CompiledProgram
    wish: Wish
    route: Route
    device: str | None
    names: tuple[str, ...]
    launch: Callable[..., LaunchRecord | None] | None = None
    """Made when a call comes the second time: many come once."""


@dataclass(slots=True)
class Call:
    """A call that may come again."""

    _basis: _Basis
    outside: Outside
    """What the program was made from, outside of the kernel."""
    _forms: Forms
    shapes: list[object]
    """Those of the arrays of the host."""
    _clears: tuple[bytes, ...]
    """What is cleared before, as the launch takes it; nothing where nothing is."""
    _grid: Grid
    _by_numbers: ByNumbers | None
    """The grid, where numbers that may differ have a say in it."""
    _touched: int
    left: int
    """How often it may be done again without looking at everything."""
    _lock: threading.Lock
    """Held while the numbers of a call are in use."""

    @property
    def program(self) -> Program:
        """What runs."""
        return self._basis.program

    def matches(self, args: tuple[Any, ...], wish: Wish, held: list[Held]) -> bool:
        """Whether a call asks for the same; `held` gets the memory of its device arrays."""
        alike = wish == self._basis.wish and self._forms.match(args, held)
        return alike and self._is_routed_alike()

    def matches_but_for_lengths(self, args: tuple[Any, ...], wish: Wish) -> bool:
        """Whether a call asks for the same on arrays that may have other lengths."""
        alike = wish == self._basis.wish and self._forms.match_but_for_lengths(args)
        return alike and self._is_routed_alike()

    def _is_routed_alike(self) -> bool:
        return routing.choose.cache.get(self._basis.device) is self._basis.route

    def again(self, args: tuple[Any, ...]) -> bool:
        """Do the same once more; False, with nothing done, if everything has to be looked at."""
        numbers = self._forms.numbers
        if not numbers:
            return self._again(args)
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return all(each.take(args[each.position]) for each in numbers) and self._again(args)
        finally:
            self._lock.release()

    def _again(self, args: tuple[Any, ...]) -> bool:
        grid = self._grid if self._by_numbers is None else self._by_numbers.grid(args)
        return self._launched(args, grid)

    def on_other_lengths(self, kernel: KernelSource, args: tuple[Any, ...]) -> Call | None:
        """Do the same on arrays of other lengths; the call that was done, None if none was."""
        forms = self._forms.for_lengths_of(args)
        if forms is None:
            return None
        made, program = forms.prepared(args), self.program
        _, grid, elements, _ = self._basis.wish
        shape = launch_grid(program, made, grid, elements)
        if 0 in shape:
            return None
        deciding = deciding_numbers(program, grid, elements)
        outs = outputs_of(kernel, program, made, shape, deciding)
        call = Call(
            self._basis,
            self.outside,
            forms.fixing(made, args),
            _shapes_of(args),
            _clears(forms.names, outs),
            shape,
            _by_numbers(kernel.parameters, program, made, deciding),
            sum([cast("Any", array).nbytes for array in made.given.values()]),
            self.left,
            threading.Lock(),
        )
        return call if call._launched(args, shape) else None

    def _launched(self, args: tuple[Any, ...], grid: Grid) -> bool:
        """Launch; False if the arrays cannot be used as they are."""
        if 0 in grid:
            return not self._clears  # a launch that does nothing clears nothing
        basis = self._basis
        launch = basis.launch
        if launch is None:
            taking = basis.compiled.takes_arrays
            assert taking is not None
            launch = basis.launch = taking.on_arrays(grid, basis.wish[3])
        arguments = (*self._forms.bound(args), *grid, *self._clears)
        spent = spent_on(launch, arguments, basis.names, self._touched)
        self.left -= 1
        if spent is None or (spent >= DEFAULT_HOT_THRESHOLD_NS and not basis.compiled.is_for_hot):
            self.left = 0
        return spent is not None


class Recall:
    """The last calls of a kernel."""

    __slots__ = ("_calls", "_kernel", "_names", "_positional")

    def __init__(self, kernel: KernelSource) -> None:
        self._kernel = kernel
        self._names = tuple(kernel.parameters)
        self._positional = len(self._names) - len(kernel.keyword_only)
        self._calls: tuple[Call, ...] = ()

    def in_order(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[object, ...] | None:
        """All arguments by position, where every one is given in the way that it may be."""
        if len(args) > self._positional:
            return None
        if not kwargs:
            return args
        names = self._names[len(args) :]
        if len(names) != len(kwargs) or not all(name in kwargs for name in names):
            return None
        return (*args, *(kwargs[name] for name in names))

    def again(self, args: tuple[object, ...], wish: Wish) -> bool:
        """Do what a call before did; False, with nothing done, if none was like it."""
        calls = self._calls
        if not calls or len(args) != len(self._names) or config().check:
            return False
        _, grid, elements, _ = wish
        if (grid is not None and not is_plain(grid)) or (
            elements is not None and not is_plain(elements)
        ):
            return False
        held: list[Held] = []
        same = self._same(args, wish, held)
        like = same or next((c for c in calls if c.matches_but_for_lengths(args, wish)), None)
        if like is None or not like.left:
            return False
        if not (like.outside.same() or like.outside.means_the_same()):
            # It would be translated to something else now.
            return False
        try:
            if same is not None:
                return same.again(args)
            call = like.on_other_lengths(self._kernel, args)
        except TrapError as error:
            raise located(error, like.program) from None
        finally:
            held.clear()  # an error would hold them with its frames
        if call is None:
            return False
        self._calls = (call, *calls[: _REMEMBERED - 1])
        return True

    def _same(self, args: tuple[object, ...], wish: Wish, held: list[Held]) -> Call | None:
        newest = self._calls[0]
        if newest.matches(args, wish, held):
            return newest
        shapes = _shapes_of(args)
        for call in self._calls:
            if call.shapes == shapes and call.matches(args, wish, held):
                return call
        return None

    def remember(
        self,
        args: tuple[object, ...],
        made: Prepared,
        wish: Wish,
        outs: Outs,
        compiled: CompiledProgram,
        done: Dispatched,
        outside: Outside,
    ) -> None:
        """Keep a call that went well, if it can be done again without looking at everything."""
        if len(args) != len(self._names) or any(type(said) not in _WISHES for said in wish):
            return
        if not (is_plain(wish[1]) and is_plain(wish[2])):
            return
        if not is_repeatable(done.binding, made.given, done.grid, compiled.bound_names):
            return
        forms = forms_of(self._kernel.parameters, args, made, compiled)
        if forms is None:
            return
        device = wish[0] or made.device
        source = compiled.compilation.source
        # One program may have been compiled for a device that several wishes lead to.
        route, keys = routing.choose(device), dispatch_keys(source)
        basis = _Basis(source, compiled, wish, route, device, keys)
        shapes = _shapes_of(args)
        call = Call(
            basis,
            outside,
            forms,
            shapes,
            _clears(forms.names, outs),
            done.grid,
            _by_numbers(
                self._kernel.parameters, source, made, deciding_numbers(source, wish[1], wish[2])
            ),
            done.binding.touched,
            _LAUNCHES,
            threading.Lock(),
        )
        others = [c for c in self._calls if c.shapes != shapes or not c.matches(args, wish, [])]
        self._calls = (call, *others[: _REMEMBERED - 1])


def _shapes_of(args: tuple[Any, ...]) -> list[object]:
    return [each.shape if type(each) is np.ndarray else None for each in args]


def _clears(names: tuple[str, ...], outs: Outs) -> tuple[bytes, ...]:
    """What a launch clears before it begins, as one more argument, if there is anything."""
    parts = [
        (names.index(name), out.array.shape, out.array.dtype.itemsize, out.cuts)
        for name, out in outs.items()
        if out.cuts
    ]
    return (packed_runs(parts),) if parts else ()


def _by_numbers(
    parameters: Mapping[str, object], program: Program, made: Prepared, deciding: frozenset[str]
) -> ByNumbers | None:
    """The grid as it follows from numbers, unless the call is like others with these only."""
    if deciding <= made.fixed:
        return None
    positions = {name: position for position, name in enumerate(parameters)}
    return ByNumbers(program, made, positions)


__all__ = ["Call", "Recall"]
