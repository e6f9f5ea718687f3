"""The call cache of a kernel: argument signature -> prepared launch.

Loops call a kernel with the same arrays again and again, or with others of their size, and with
numbers that change. An entry holds the results of an uncached call: the program and grid, the parts
of the outputs that have to be zeroed, and a launch function that takes the arrays as they are (and
checks that they do not overlap). If arrays differ from an entry in nothing but their lengths, only
what depends on lengths is computed anew.

One level below, `dispatch_cache` maps the arrays of a program (not a kernel) to a bound launch. The
options of the two differ: a call names the device, a dispatch says whether arrays may be changed.
Both are plain tuples: these are built and compared in each call, and a class costs more than the
rest of the lookup.
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
from vyre.runtime.argument_signature import ArgumentSignature, signature_of
from vyre.runtime.clearing import Outs, packed_runs
from vyre.runtime.dispatch_cache import is_bound_in_place, is_comparable, spent_on
from vyre.runtime.kernel_grid import ByNumbers, deciding_numbers, launch_grid
from vyre.runtime.kernel_outputs import outputs_of
from vyre.runtime.memory_pool import Held
from vyre.runtime.traps import located

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Extents, Grid
    from vyre.driver.routing import Route
    from vyre.front import KernelSource
    from vyre.front.capture_guards import Outside
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.run import Dispatched

CallOptions = tuple[str | None, "Extents", "Extents", float | None]
"""`device`, `grid`, `elements` and `deadline` of a call."""

_MAX_ENTRIES: Final = 16
"""Entries of a kernel: enough for the levels of a pyramid or the steps of a reduction."""
_MAX_REPLAYS: Final = 256
"""Uses of an entry before an uncached call, which finds better code if there is some."""
_OPTION_TYPES: Final = (type(None), str, int, float, tuple)


@dataclass(slots=True)
class _PreparedLaunch:
    """What entries share that differ in arrays and numbers only."""

    program: Program
    compiled: CompiledProgram
    options: CallOptions
    route: Route
    device: str | None
    names: tuple[str, ...]
    launch: Callable[..., LaunchRecord | None] | None = None
    """Made at the second call: many kernels are called once."""


@dataclass(slots=True)
class CachedCall:
    """An entry of the cache."""

    _prepared: _PreparedLaunch
    outside: Outside
    """Globals and closure variables that the program was translated with."""
    _signature: ArgumentSignature
    shapes: list[object]
    """Of the arrays of the host, by argument position."""
    _clears: tuple[bytes, ...]
    """The ranges to zero, packed as the launch takes them; empty if there are none."""
    _grid: Grid
    _by_numbers: ByNumbers | None
    """Computes the grid, if it depends on scalar arguments."""
    _touched: int
    left: int
    """How often the entry may still be used."""
    _lock: threading.Lock
    """Held while the memory of scalar arguments is in use."""

    @property
    def program(self) -> Program:
        """The program of the kernel."""
        return self._prepared.program

    def matches(self, args: tuple[Any, ...], options: CallOptions, held: list[Held]) -> bool:
        """True if a call may use this entry; the memory of device arrays is appended to `held`."""
        alike = options == self._prepared.options and self._signature.match(args, held)
        return alike and self._is_routed_alike()

    def matches_but_for_lengths(self, args: tuple[Any, ...], options: CallOptions) -> bool:
        """True if a call may use this entry once lengths are updated."""
        alike = options == self._prepared.options and self._signature.match_but_for_lengths(args)
        return alike and self._is_routed_alike()

    def _is_routed_alike(self) -> bool:
        """True if the device option still selects the same device."""
        return routing.choose.cache.get(self._prepared.device) is self._prepared.route

    def replay(self, args: tuple[Any, ...]) -> bool:
        """Launch with these arguments; False, with no effect, if an uncached call is needed."""
        numbers = self._signature.numbers
        if not numbers:
            return self._replay(args)
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return all(each.take(args[each.position]) for each in numbers) and self._replay(args)
        finally:
            self._lock.release()

    def _replay(self, args: tuple[Any, ...]) -> bool:
        grid = self._grid if self._by_numbers is None else self._by_numbers.grid(args)
        return self._launched(args, grid)

    def on_other_lengths(self, kernel: KernelSource, args: tuple[Any, ...]) -> CachedCall | None:
        """Launch on arrays of other lengths; the new entry, None if an uncached call is needed."""
        signature = self._signature.for_lengths_of(args)
        if signature is None:
            return None
        made, program = signature.prepared(args), self.program
        _, grid, elements, _ = self._prepared.options
        shape = launch_grid(program, made, grid, elements)
        if 0 in shape:
            return None
        deciding = deciding_numbers(program, grid, elements)
        outs = outputs_of(kernel, program, made, shape, deciding)
        call = CachedCall(
            self._prepared,
            self.outside,
            signature.fixing(made, args),
            _shapes_of(args),
            _clears(signature.names, outs),
            shape,
            _by_numbers(kernel.parameters, program, made, deciding),
            sum([cast("Any", array).nbytes for array in made.given.values()]),
            self.left,
            threading.Lock(),
        )
        return call if call._launched(args, shape) else None

    def _launched(self, args: tuple[Any, ...], grid: Grid) -> bool:
        """Launch; False if the arrays cannot be used in place."""
        if 0 in grid:
            return not self._clears  # a launch that does nothing clears nothing
        prepared = self._prepared
        launch = prepared.launch
        if launch is None:
            taking = prepared.compiled.takes_arrays
            assert taking is not None
            launch = prepared.launch = taking.on_arrays(grid, prepared.options[3])
        arguments = (*self._signature.bound(args), *grid, *self._clears)
        spent = spent_on(launch, arguments, prepared.names, self._touched)
        self.left -= 1
        if spent is None or (
            spent >= DEFAULT_HOT_THRESHOLD_NS and not prepared.compiled.is_for_hot
        ):
            self.left = 0
        return spent is not None


class CallCache:
    """The most recent calls of a kernel, newest first."""

    __slots__ = ("_entries", "_kernel", "_names", "_positional")

    def __init__(self, kernel: KernelSource) -> None:
        self._kernel = kernel
        self._names = tuple(kernel.parameters)
        self._positional = len(self._names) - len(kernel.keyword_only)
        self._entries: tuple[CachedCall, ...] = ()

    def positional(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[object, ...] | None:
        """All arguments by position; None if some are missing, unknown or keyword-only."""
        if len(args) > self._positional:
            return None
        if not kwargs:
            return args
        names = self._names[len(args) :]
        if len(names) != len(kwargs) or not all(name in kwargs for name in names):
            return None
        return (*args, *(kwargs[name] for name in names))

    def replay(self, args: tuple[object, ...], options: CallOptions) -> bool:
        """Look a call up and launch; False, with no effect, on a miss."""
        calls = self._entries
        if not calls or len(args) != len(self._names) or config().check:
            return False
        _, grid, elements, _ = options
        if (grid is not None and not is_comparable(grid)) or (
            elements is not None and not is_comparable(elements)
        ):
            return False
        held: list[Held] = []
        same = self._same(args, options, held)
        like = same or next((c for c in calls if c.matches_but_for_lengths(args, options)), None)
        if like is None or not like.left:
            return False
        if not (like.outside.same() or like.outside.means_the_same()):
            # A global that the kernel reads has changed: it has to be translated again.
            return False
        try:
            if same is not None:
                return same.replay(args)
            call = like.on_other_lengths(self._kernel, args)
        except TrapError as error:
            raise located(error, like.program) from None
        finally:
            held.clear()  # an error would hold them with its frames
        if call is None:
            return False
        self._entries = (call, *calls[: _MAX_ENTRIES - 1])
        return True

    def _same(
        self, args: tuple[object, ...], options: CallOptions, held: list[Held]
    ) -> CachedCall | None:
        newest = self._entries[0]
        if newest.matches(args, options, held):
            return newest
        shapes = _shapes_of(args)
        for call in self._entries:
            if call.shapes == shapes and call.matches(args, options, held):
                return call
        return None

    def store(
        self,
        args: tuple[object, ...],
        made: Prepared,
        options: CallOptions,
        outs: Outs,
        compiled: CompiledProgram,
        done: Dispatched,
        outside: Outside,
    ) -> None:
        """Add an entry for a successful call, if all arrays are bound in place."""
        if len(args) != len(self._names) or any(
            type(option) not in _OPTION_TYPES for option in options
        ):
            return
        if not (is_comparable(options[1]) and is_comparable(options[2])):
            return
        if not is_bound_in_place(done.binding, made.given, done.grid, compiled.bound_names):
            return
        signature = signature_of(self._kernel.parameters, args, made, compiled)
        if signature is None:
            return
        device = options[0] or made.device
        source = compiled.compilation.source
        # Several device options may select the device that a program was compiled for.
        route, keys = routing.choose(device), dispatch_keys(source)
        prepared = _PreparedLaunch(source, compiled, options, route, device, keys)
        shapes = _shapes_of(args)
        call = CachedCall(
            prepared,
            outside,
            signature,
            shapes,
            _clears(signature.names, outs),
            done.grid,
            _by_numbers(
                self._kernel.parameters,
                source,
                made,
                deciding_numbers(source, options[1], options[2]),
            ),
            done.binding.touched,
            _MAX_REPLAYS,
            threading.Lock(),
        )
        others = [
            c for c in self._entries if c.shapes != shapes or not c.matches(args, options, [])
        ]
        self._entries = (call, *others[: _MAX_ENTRIES - 1])


def _shapes_of(args: tuple[Any, ...]) -> list[object]:
    return [each.shape if type(each) is np.ndarray else None for each in args]


def _clears(names: tuple[str, ...], outs: Outs) -> tuple[bytes, ...]:
    """The ranges that a launch zeroes first, as one more argument, if there are any."""
    parts = [
        (names.index(name), out.array.shape, out.array.dtype.itemsize, out.cuts)
        for name, out in outs.items()
        if out.cuts
    ]
    return (packed_runs(parts),) if parts else ()


def _by_numbers(
    parameters: Mapping[str, object], program: Program, made: Prepared, deciding: frozenset[str]
) -> ByNumbers | None:
    """Computes the grid from scalar arguments; None if the signature fixes those scalars."""
    if deciding <= made.fixed:
        return None
    positions = {name: position for position, name in enumerate(parameters)}
    return ByNumbers(program, made, positions)


__all__ = ["CachedCall", "CallCache", "CallOptions"]
