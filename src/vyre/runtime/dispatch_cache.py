"""The dispatch cache of a compiled program: arrays and options -> bound launch.

Loops launch the same program on the same arrays again and again, or on two sets of them in turns.
What the first dispatch checked holds for the next one with the same arrays. Arrays of the host are
used in place if the device shares memory with the host. If the device takes numpy arrays as they
are, an entry matches all arrays of the same type and shape; else it matches by
`__array_interface__`: an array of the same type at the same address.
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

DispatchOptions = tuple[object, object, float | None, bool]
"""`grid`, `elements`, `deadline` and `in_place` of a dispatch."""

Description = dict[str, Any]
"""The `__array_interface__` of an array: address, shape, type, whether it is writable."""


@dataclass(frozen=True, slots=True)
class BoundLaunch:
    """An entry of the cache: the arrays that it is for, and a launch on them."""

    resident: tuple[tuple[str, weakref.ref[DeviceArray]], ...]
    """Arrays that live on the device, by name."""
    hosts: tuple[tuple[str, Description], ...]
    """Arrays of the host; not referenced, because numpy would refuse to resize them."""
    forms: tuple[tuple[str, Form], ...]
    """Type and shape of arrays of the host, in the order in which the launch takes them."""
    options: DispatchOptions
    launch: Callable[..., LaunchRecord | None] | None
    """None for arrays of the host that have been dispatched only once."""
    touched: int
    outputs: tuple[str, ...]
    viewed: tuple[str, ...] = ()
    """Arrays that are written and whose memory may be that of a mapped file."""
    zeroed: tuple[str, ...] = ()
    """Arrays of the caller's that begin as zeros."""
    arrays: int = 0
    """How many arrays it is for."""

    def matches(
        self,
        given: Mapping[str, object],
        options: DispatchOptions,
        told: dict[str, Description],
        held: list[Held],
    ) -> bool:
        """True if a dispatch may use this entry.

        `told` caches the interfaces of the arrays, which cost more than the rest of the lookup. The
        memory of device arrays is appended to `held`, which keeps it from being reused if another
        thread frees it before the launch has ended.
        """
        if len(given) != self.arrays or options != self.options:
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

    def replay(
        self, given: Mapping[str, object], names: tuple[str, ...], outs: Outs = NO_OUTS
    ) -> int | None:
        """Launch and record the nanoseconds; None if an uncached dispatch is needed."""
        assert self.launch is not None
        if outs or self.zeroed:
            for out in outs.values():
                clear(out.array, out.cuts)
            for name in self.zeroed:
                if name not in outs:
                    clear(cast("HostArray | DeviceArray", given[name]), ALL)
        arrays = [given[name] for name, _ in self.forms]
        return spent_on(self.launch, arrays, names, self.touched)

    def results(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The outputs by name: arrays of the caller."""
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
    """Launch, record its time and show its output: its nanoseconds; None if it did not run."""
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


_MAX_ENTRIES = 4
"""Entries of a program: loops that swap their arrays have two or three."""
_MAX_REPLAYS = 64
"""Cached dispatches in a row; then an uncached one finds better code if there is some."""


class LatestDispatch:
    """The compiled program of the last dispatch; `run` first looks an entry up in it."""

    __slots__ = ("_compiled", "_left", "_names", "_route")

    def __init__(self, _: Program) -> None:
        self._compiled: CompiledProgram | None = None
        self._route: Route | None = None
        self._names: tuple[str, ...] = ()
        self._left = 0

    def set(self, compiled: CompiledProgram, device: str | None) -> None:
        """Record an uncached dispatch."""
        if config().check:
            self._left = 0
            return
        # Several device options may select the device that a program was compiled for.
        self._compiled, self._route, self._left = compiled, routing.choose(device), _MAX_REPLAYS
        self._names = dispatch_keys(compiled.compilation.source)

    def replay(
        self, given: Given, options: DispatchOptions, device: str | None
    ) -> dict[str, Any] | None:
        """Look a dispatch up and launch: its outputs; None, with no effect, on a miss."""
        compiled = self._compiled
        if compiled is None or not self._left or type(given) is not dict:
            return None
        named = cast("dict[str, object]", given)
        held: list[Held] = []
        known = lookup(compiled, named, options, held)
        if known is None or known.launch is None:
            return None
        if routing.choose.cache.get(device) is not self._route:
            return None
        self._left -= 1
        try:
            spent = known.replay(named, self._names)
        except BaseException:
            held.clear()  # the error would hold them with its frames
            raise
        if spent is None or (spent >= DEFAULT_HOT_THRESHOLD_NS and not compiled.is_for_hot):
            self._left = 0
        return None if spent is None else known.results(named)


def lookup(
    compiled: CompiledProgram,
    given: Mapping[str, object],
    options: DispatchOptions,
    held: list[Held],
) -> BoundLaunch | None:
    """The entry for a dispatch; the memory of its device arrays is appended to `held`."""
    if not is_comparable(options[0]) or not (options[1] is None or is_comparable(options[1])):
        return None
    told: dict[str, Description] = {}
    for known in compiled.bound_launches:
        if known.matches(given, options, told, held):
            return known
    return None


def store(
    compiled: CompiledProgram,
    binding: Binding,
    given: Mapping[str, object],
    options: DispatchOptions,
    grid: Grid,
) -> None:
    """Add an entry for a dispatch, if all buffers are bound to arrays of the caller in place.

    A launch is bound at the second dispatch of the same arrays: most are dispatched once.
    """
    if 0 in grid or not _are_comparable(options):
        return
    if not is_bound_in_place(binding, given, compiled.bound_names):
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
    before = lookup(compiled, given, options, [])
    launch: Callable[..., LaunchRecord | None] | None = None
    if forms and taking is not None:
        launch = None if before is None else taking.on_arrays(grid, options[2])
    # Memory that stands for an array of the host ends with the dispatch; only what a backend
    # binds by itself knows the array's place without it.
    elif (before is not None and compiled.is_bindable) or not binding.hosts:
        launch = compiled.prepare(binding.arguments, grid, options[2])
    outputs = tuple(binding.outputs)
    viewed = tuple(name for name, form in forms if may_be_mapped(form))
    viewed += tuple(name for name, _ in hosts if name in binding.outputs)
    buffers = compiled.compilation.source.buffers
    zeroed = tuple(d.name for d in buffers if d.name in given and d.is_device_allocated)
    made = BoundLaunch(
        tuple(resident),
        tuple(hosts),
        forms,
        options,
        launch,
        binding.touched,
        outputs,
        viewed,
        zeroed,
        len(resident) + len(hosts) + len(forms),
    )
    others = [known for known in compiled.bound_launches if known is not before]
    compiled.bound_launches = (made, *others[: _MAX_ENTRIES - 1])


def _are_comparable(options: DispatchOptions) -> bool:
    """True if grid and elements may be compared with those of an entry."""
    return is_comparable(options[0]) and is_comparable(options[1])


def is_comparable(extents: object) -> bool:
    """True if extents are integers; arrays compare by element, and 2.0 == 2 but is refused."""
    if extents is None or type(extents) is int:
        return True
    if type(extents) is not tuple:
        return False
    if len(cast("tuple[object, ...]", extents)) == 3:  # without a loop: every dispatch comes by
        x, y, z = cast("tuple[object, ...]", extents)
        return type(x) is int and type(y) is int and type(z) is int
    for extent in cast("tuple[object, ...]", extents):  # noqa: SIM110  -- `all` is slower
        if type(extent) is not int:
            return False
    return True


def is_bound_in_place(
    binding: Binding, given: Mapping[str, object], names: tuple[str, ...]
) -> bool:
    """True if all buffers are bound to arrays of the caller in place."""
    if set(names) != set(given):
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
