"""A dispatch like one before: the same arrays, the same wish for a grid.

Loops launch the same kernel on the same arrays again and again, or on two sets of them in turns.
Everything that a dispatch checks was found right the first time, so it is remembered, and only
looked at again when the caller brings something else. Arrays of the host are used in place, where
the device can do that. If it takes them as they are, any others of the same form will do, else they
are known by how they describe themselves: an array of the same type at the same place is as good as
the same array.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.config import config
from vyre.diagnostics import ExecutionError
from vyre.driver import routing
from vyre.driver.backend import LaunchRecord
from vyre.driver.grid import Grid
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, dispatch_keys
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.arguments import Binding, Given
from vyre.runtime.clearing import ALL, NO_OUTS, Outs, clear
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import Form, are_apart, form_of, has_form, may_be_mapped
from vyre.runtime.host_views import HostArray
from vyre.runtime.memory_pool import Held

if TYPE_CHECKING:
    from vyre.driver.routing import Route
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram

Wish = tuple[object, object, float | None, bool]
"""What the caller said: `grid`, `elements`, `deadline` and `in_place`."""

Description = dict[str, Any]
"""Where an array of the host lies, its shape, its type, and whether it may be written."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What can be used again."""

    resident: tuple[tuple[str, weakref.ref[DeviceArray]], ...]
    """Arrays that live on the device, by name."""
    hosts: tuple[tuple[str, Description], ...]
    """Arrays of the host, which are not held in any way: numpy would refuse to resize them."""
    forms: tuple[tuple[str, Form], ...]
    """What they must be like, in the order in which the launch takes them, if it does."""
    wish: Wish
    launch: Callable[..., LaunchRecord | None] | None
    """Does it again; None for arrays of the host that have been seen only once."""
    touched: int
    outputs: tuple[str, ...]
    viewed: tuple[str, ...] = ()
    """Arrays that are written and whose memory may be that of a mapped file."""
    zeroed: tuple[str, ...] = ()
    """Arrays of the caller's that begin as zeros."""

    def matches(
        self,
        given: Mapping[str, object],
        wish: Wish,
        told: dict[str, Description],
        held: list[Held],
    ) -> bool:
        """Whether a dispatch asks for the same; `told` is what its arrays have said of themselves.

        Asking them costs more than all the rest. `held` gets the memory of device arrays: what is
        freed from now on stays until the launch has ended.
        """
        arrays = len(self.resident) + len(self.hosts) + len(self.forms)
        if len(given) != arrays or wish != self.wish:
            return False
        for name, form in self.forms:
            if not has_form(given.get(name), form):
                return False
        for name, known in self.resident:
            array = known()
            if array is None or given.get(name) is not array:
                return False
            memory = array.held
            if memory is None:
                return False
            held.append(memory)
        for name, description in self.hosts:
            value = given.get(name)
            if type(value) is not np.ndarray:
                return False
            own = told.get(name)
            if own is None:
                own = told[name] = value.__array_interface__
            if own != description:
                return False
        return not self.viewed or self._are_apart(given)

    def _are_apart(self, given: Mapping[str, object]) -> bool:
        for name in self.viewed:
            array = cast("HostArray", given[name])
            # What has no base has memory of its own.
            if array.base is not None and not are_apart(array, given.values()):
                return False
        return True

    def launch_again(
        self, given: Mapping[str, object], names: tuple[str, ...], outs: Outs = NO_OUTS
    ) -> int | None:
        """Do it again and keep what it took, in nanoseconds; None if it has to be looked at."""
        assert self.launch is not None
        for out in outs.values():
            clear(out.array, out.cuts)
        for name in self.zeroed:
            if name not in outs:
                clear(cast("HostArray | DeviceArray", given[name]), ALL)
        arrays = [given[name] for name, _ in self.forms]
        return spent_on(self.launch, arrays, names, self.touched)

    def results(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The outputs: arrays that the caller gave."""
        outputs = self.outputs
        if len(outputs) == 1:
            return {outputs[0]: given[outputs[0]]}
        return {name: given[name] for name in outputs}


def spent_on(
    launch: Callable[..., LaunchRecord | None],
    arrays: Sequence[object],
    names: tuple[str, ...],
    touched: int,
) -> int | None:
    """Launch, keep what it took, show what it printed: its nanoseconds; None if it did not run."""
    started = perf_counter_ns()
    try:
        record = launch(*arrays)
    except ExecutionError as ended:
        telemetry.show(ended.printed)
        raise
    if record is None:
        return None
    spent = record.kernel_ns
    if spent is None:
        spent = perf_counter_ns() - started
    telemetry.record_names(names, spent, touched)
    if record.printed:
        telemetry.show(record.printed)
    return spent


_REMEMBERED = 4
"""Dispatches of a program that are remembered: loops that swap their arrays have two or three."""
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

    def set(self, compiled: CompiledProgram, device: str | None) -> None:
        """After a dispatch that looked at everything."""
        if config().check:
            self._left = 0
            return
        # One program may have been compiled for a device that several wishes lead to.
        self._compiled, self._route, self._left = compiled, routing.choose(device), _LAUNCHES
        self._names = dispatch_keys(compiled.compilation.source)

    def again(self, given: Given, wish: Wish, device: str | None) -> dict[str, Any] | None:
        """The outputs of the same launch once more, if a dispatch asks for that."""
        compiled = self._compiled
        if compiled is None or not self._left or type(given) is not dict:
            return None
        named = cast("dict[str, object]", given)
        held: list[Held] = []
        known = find(compiled, named, wish, held)
        if known is None or known.launch is None:
            return None
        if routing.choose.cache.get(device) is not self._route:
            return None
        self._left -= 1
        try:
            spent = known.launch_again(named, self._names)
        finally:
            held.clear()  # an error would hold them with its frames
        if spent is None or (spent >= DEFAULT_HOT_THRESHOLD_NS and not compiled.is_for_hot):
            self._left = 0
        return None if spent is None else known.results(named)


def find(
    compiled: CompiledProgram, given: Mapping[str, object], wish: Wish, held: list[Held]
) -> Repeated | None:
    """The dispatch before that asked for the same; `held` gets the memory that it uses."""
    if not _is_comparable(wish):
        return None
    told: dict[str, Description] = {}
    for known in compiled.repeated:
        if known.matches(given, wish, told, held):
            return known
    return None


def remember(
    compiled: CompiledProgram,
    binding: Binding,
    given: Mapping[str, object],
    wish: Wish,
    grid: Grid,
) -> None:
    """Keep what can be used again, if all buffers are bound to arrays of the caller's in place.

    Arrays of the host must be seen twice before anything is prepared for them: most come once.
    """
    if not (_is_comparable(wish) and is_repeatable(binding, given, grid, compiled.bound_names)):
        return
    resident: list[tuple[str, weakref.ref[DeviceArray]]] = []
    hosts: list[tuple[str, Description]] = []
    forms: tuple[tuple[str, Form], ...] = ()
    taking = compiled.takes_arrays
    if taking is not None and len(binding.hosts) == len(given):
        forms = tuple(
            (name, form_of(binding.hosts[name], written=name in binding.outputs))
            for name in compiled.bound_names
        )
    for name, value in given.items() if not forms else ():
        if isinstance(value, DeviceArray):
            resident.append((name, weakref.ref(value)))
        else:
            hosts.append((name, binding.hosts[name].__array_interface__))
    before = find(compiled, given, wish, [])
    launch: Callable[..., LaunchRecord | None] | None = None
    if forms and taking is not None:
        launch = None if before is None else taking.on_arrays(grid, wish[2])
    # Memory that stands for an array of the host ends with the dispatch; only what a backend
    # binds by itself knows the array's place without it.
    elif (before is not None and compiled.is_bindable) or not binding.hosts:
        launch = compiled.prepare(binding.arguments, grid, wish[2])
    outputs = tuple(binding.outputs)
    viewed = tuple(name for name, form in forms if may_be_mapped(form))
    viewed += tuple(name for name, _ in hosts if name in binding.outputs)
    buffers = compiled.compilation.source.buffers
    zeroed = tuple(d.name for d in buffers if d.name in given and d.is_device_allocated)
    made = Repeated(
        tuple(resident), tuple(hosts), forms, wish, launch, binding.touched, outputs, viewed, zeroed
    )
    others = [known for known in compiled.repeated if known is not before]
    compiled.repeated = (made, *others[: _REMEMBERED - 1])


def _is_comparable(wish: Wish) -> bool:
    """Whether grid and elements are no arrays, which compare element by element, and no floats."""
    return is_plain(wish[0]) and is_plain(wish[1])


def is_plain(extents: object) -> bool:
    """Whether what a caller gives as a grid can be compared: 2.0 equals 2, and is refused."""
    if extents is None or type(extents) is int:
        return True
    if type(extents) is not tuple:
        return False
    for extent in cast("tuple[object, ...]", extents):  # noqa: SIM110  -- `all` is slower
        if type(extent) is not int:
            return False
    return True


def is_repeatable(
    binding: Binding, given: Mapping[str, object], grid: Grid, names: tuple[str, ...]
) -> bool:
    """Whether all buffers are bound to arrays of the caller's in place."""
    if set(names) != set(given) or 0 in grid:
        return False
    if binding.owned or binding.pending or binding.stand_ins:
        return False
    for name, value in given.items():
        if type(value) is np.ndarray:
            if binding.hosts.get(name) is not value:
                return False
        elif not isinstance(value, DeviceArray):
            return False
    return all(given.get(name) is value for name, value in binding.outputs.items())
