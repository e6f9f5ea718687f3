"""A call of a kernel like one before: arrays of the same form, numbers of the same types.

Loops call a kernel with the same arrays again and again, or with others of their size, and with
numbers that change. What a call finds out about its arguments, it remembers: which program and grid
they come to, what of the outputs has to be cleared, and a launch that takes the arrays as they are.
The device sees to it that they do not share memory. Where arrays differ from those before in
nothing but their lengths, only what depends on these is found out anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from vyre.config import config
from vyre.diagnostics import TrapError
from vyre.driver import routing
from vyre.driver.grid import resolve
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, hint_keys
from vyre.record import dataclass
from vyre.runtime.call_forms import Forms, forms_of
from vyre.runtime.kernel_outputs import Cuts, clear, zero_outputs
from vyre.runtime.repeated import is_repeatable, spent_on
from vyre.runtime.traps import located

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Grid
    from vyre.driver.routing import Route
    from vyre.front import KernelSource
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.run import Dispatched

Extents = Sequence[int] | int | None
Wish = tuple[str | None, Extents, int | None, float | None]
"""What the caller said: `device`, `grid`, `elements` and `deadline`."""
DefaultGrid = Callable[["Program", "Prepared"], tuple[Extents, int | None]]
"""The grid, or the elements, of a call that says nothing about them."""

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
    _forms: Forms
    shapes: list[object]
    """Those of the arrays of the host."""
    _cuts: tuple[tuple[int, Cuts], ...]
    """Which arguments are cleared before, and where."""
    _grid: Grid
    _touched: int
    left: int
    """How often it may be done again without looking at everything."""
    _lock: threading.Lock
    """Held while the numbers of a call are in use."""

    @property
    def program(self) -> Program:
        """What runs."""
        return self._basis.program

    def matches(self, args: tuple[Any, ...], wish: Wish) -> bool:
        """Whether a call asks for the same."""
        return wish == self._basis.wish and self._forms.match(args) and self._is_routed_alike()

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
        for position, cuts in self._cuts:
            clear(args[position], cuts)
        return self._launched(args)

    def on_other_lengths(
        self, kernel: KernelSource, args: tuple[Any, ...], default: DefaultGrid
    ) -> Call | None:
        """Do the same on arrays of other lengths; the call that was done, None if none was."""
        forms = self._forms.for_lengths_of(args)
        if forms is None:
            return None
        made, program = forms.prepared(args), self.program
        _, grid, elements, _ = self._basis.wish
        if grid is None and elements is None:
            grid, elements = default(program, made)
        counts = {name: cast("Any", array).size for name, array in made.given.items()}
        shape = resolve(program, counts, grid, elements)
        if 0 in shape:
            return None
        cuts = zero_outputs(kernel, program, made, grid, elements)
        call = Call(
            self._basis,
            forms.fixing(made, args),
            _shapes_of(args),
            _by_position(kernel.parameters, cuts),
            shape,
            sum([cast("Any", array).nbytes for array in made.given.values()]),
            self.left,
            threading.Lock(),
        )
        return call if call._launched(args) else None

    def _launched(self, args: tuple[Any, ...]) -> bool:
        """Launch; False if the arrays cannot be used as they are."""
        basis = self._basis
        launch = basis.launch
        if launch is None:
            taking = basis.compiled.takes_arrays
            assert taking is not None
            launch = basis.launch = taking.on_arrays(self._grid, basis.wish[3])
        arguments = (*self._forms.bound(args), *self._grid)
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

    def again(self, args: tuple[object, ...], wish: Wish, default: DefaultGrid) -> bool:
        """Do what a call before did; False, with nothing done, if none was like it."""
        calls = self._calls
        if not calls or len(args) != len(self._names) or config().check:
            return False
        if type(wish[1]) not in _WISHES:
            return False
        same = self._same(args, wish)
        like = same or next((c for c in calls if c.matches_but_for_lengths(args, wish)), None)
        if like is None or not like.left:
            return False
        try:
            if same is not None:
                return same.again(args)
            call = like.on_other_lengths(self._kernel, args, default)
        except TrapError as error:
            raise located(error, like.program) from None
        if call is None:
            return False
        self._calls = (call, *calls[: _REMEMBERED - 1])
        return True

    def _same(self, args: tuple[object, ...], wish: Wish) -> Call | None:
        newest = self._calls[0]
        if newest.matches(args, wish):
            return newest
        shapes = _shapes_of(args)
        for call in self._calls:
            if call.shapes == shapes and call.matches(args, wish):
                return call
        return None

    def remember(
        self,
        args: tuple[object, ...],
        made: Prepared,
        wish: Wish,
        cuts: Mapping[str, Cuts],
        compiled: CompiledProgram,
        done: Dispatched,
    ) -> None:
        """Keep a call that went well, if it can be done again without looking at everything."""
        if len(args) != len(self._names) or any(type(said) not in _WISHES for said in wish):
            return
        if not is_repeatable(done.binding, made.given, done.grid, compiled.bound_names):
            return
        forms = forms_of(self._kernel.parameters, args, made, compiled)
        if forms is None:
            return
        device = wish[0] or made.device
        source = compiled.compilation.source
        # One program may have been compiled for a device that several wishes lead to.
        basis = _Basis(source, compiled, wish, routing.choose(device), device, hint_keys(source))
        shapes = _shapes_of(args)
        call = Call(
            basis,
            forms,
            shapes,
            _by_position(self._kernel.parameters, cuts),
            done.grid,
            done.binding.touched,
            _LAUNCHES,
            threading.Lock(),
        )
        others = [c for c in self._calls if c.shapes != shapes or not c.matches(args, wish)]
        self._calls = (call, *others[: _REMEMBERED - 1])


def _shapes_of(args: tuple[Any, ...]) -> list[object]:
    return [each.shape if type(each) is np.ndarray else None for each in args]


def _by_position(
    parameters: Mapping[str, object], cuts: Mapping[str, Cuts]
) -> tuple[tuple[int, Cuts], ...]:
    if not cuts:
        return ()
    positions = {name: position for position, name in enumerate(parameters)}
    return tuple((positions[name], where) for name, where in cuts.items())


__all__ = ["Call", "Recall"]
