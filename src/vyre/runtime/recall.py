"""A call of a kernel like one before: arrays of the same form, numbers of the same types.

Loops call a kernel with the same arrays again and again, or with others of their size, and with
numbers that change. What a call finds out about its arguments, it remembers: which program and grid
they come to, what of the outputs has to be cleared, and a launch that takes the arrays as they are.
The device sees to it that they do not share memory.
"""

from __future__ import annotations

import struct
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vyre.config import config
from vyre.driver import routing
from vyre.front.parameters import ScalarParameter, StaticParameter
from vyre.ir import DataType
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS, hint_keys
from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import Form, form_of, has_form, numpy_type
from vyre.runtime.kernel_outputs import Cuts, clear
from vyre.runtime.repeated import is_repeatable, spent_on

if TYPE_CHECKING:
    from vyre.driver.backend import LaunchRecord
    from vyre.driver.grid import Grid
    from vyre.driver.routing import Route
    from vyre.front import KernelSource
    from vyre.front.parameters import Parameter
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram
    from vyre.runtime.kernel_arguments import Prepared
    from vyre.runtime.run import Dispatched

Wish = tuple[str | None, Sequence[int] | int | None, int | None, float | None]
"""What the caller said: `device`, `grid`, `elements` and `deadline`."""

_REMEMBERED: Final = 16
"""Calls of a kernel that are remembered: the levels of a pyramid, the rounds of a reduction."""
_LAUNCHES: Final = 256
"""Calls in a row that look at nothing else: then there may be better code for the program."""
_WISHES: Final = (type(None), str, int, float, tuple)
_FORMATS: Final = {
    **{"b1": "?", "u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i"},
    **{"u8": "Q", "i8": "q", "f2": "e", "f4": "f", "f8": "d"},
}
"""How `struct` writes numbers of each type of numpy's."""
_NUMBERS: Final = frozenset({bool, int, float, *(np.dtype(name).type for name in _FORMATS)})
_EXACT: Final = 1 << 53
"""Up to here whole numbers become floats in one step, whoever converts them."""


class _Number:
    """A number among the arguments, and the memory from which the kernel reads it."""

    __slots__ = ("_bytes", "_is_float_of_int", "_pack", "kind", "memory", "position")

    def __init__(self, position: int, kind: type, dtype: np.dtype[Any]) -> None:
        self.position = position
        self.kind = kind
        self.memory = np.zeros(1, dtype)
        self._bytes = self.memory.data.cast("B")
        self._pack = struct.Struct("=" + _FORMATS[dtype.str[1:]]).pack_into
        self._is_float_of_int = issubclass(kind, (int, np.integer)) and dtype.kind == "f"

    def take(self, value: Any) -> bool:
        """Hand a number to the kernel; False for one that has to be looked at."""
        if self._is_float_of_int and not -_EXACT <= value <= _EXACT:
            return False
        try:
            self._pack(self._bytes, 0, value)
        except (struct.error, OverflowError):
            return False
        return True


@dataclass(slots=True)
class _Forms:
    """What the arguments must be like, and where they go."""

    arrays: tuple[tuple[int, Form], ...]
    """Positions and forms of arrays of the host."""
    resident: tuple[tuple[int, weakref.ref[DeviceArray]], ...]
    numbers: tuple[_Number, ...]
    statics: tuple[tuple[int, type, object], ...]
    """Values that the program was made for, or that tell what is cleared."""
    places: tuple[tuple[int, int], ...]
    """Which of the buffers is which of the arguments."""
    buffers: tuple[object, ...]
    """An array for each of the others."""

    def match(self, args: tuple[Any, ...]) -> bool:
        """Whether arguments are like those before."""
        for position, form in self.arrays:
            if not has_form(args[position], form):
                return False
        for number in self.numbers:
            if type(args[number.position]) is not number.kind:
                return False
        for position, known in self.resident:
            array = known()
            if array is None or args[position] is not array or array.is_free:
                return False
        for position, kind, value in self.statics:
            given = args[position]
            if type(given) is not kind or given != value:
                return False
        return True


@dataclass(slots=True)
class Call:
    """A call that may come again."""

    program: Program
    _forms: _Forms
    _wish: Wish
    _cuts: tuple[tuple[int, Cuts], ...]
    """Which arguments are cleared before, and where."""
    _compiled: CompiledProgram
    _route: Route
    _device: str | None
    _grid: Grid
    _touched: int
    _names: tuple[str, ...]
    _lock: threading.Lock
    """Held while the numbers of a call are in use."""
    _launch: Callable[..., LaunchRecord | None] | None = None
    """Made when a call comes the second time: many come once."""
    left: int = _LAUNCHES
    """How often it may be done again without looking at everything."""

    def matches(self, args: tuple[Any, ...], wish: Wish) -> bool:
        """Whether a call asks for the same."""
        if wish != self._wish or not self._forms.match(args):
            return False
        return routing.choose.cache.get(self._device) is self._route

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
        buffers = list(self._forms.buffers)
        for index, position in self._forms.places:
            buffers[index] = args[position]
        launch = self._launch
        if launch is None:
            taking = self._compiled.takes_arrays
            assert taking is not None
            launch = self._launch = taking.on_arrays(self._grid, self._wish[3])
        spent = spent_on(launch, buffers, self._names, self._touched)
        self.left -= 1
        if spent is None or (spent >= DEFAULT_HOT_THRESHOLD_NS and not self._compiled.is_for_hot):
            self.left = 0
        return spent is not None


class Recall:
    """The last calls of a kernel."""

    __slots__ = ("_calls", "_names", "_parameters", "_positional")

    def __init__(self, kernel: KernelSource) -> None:
        self._parameters = kernel.parameters
        self._names = tuple(kernel.parameters)
        self._positional = len(self._names) - len(kernel.source.tree.args.kwonlyargs)
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

    def find(self, args: tuple[object, ...], wish: Wish) -> Call | None:
        """A call before that asked for the same."""
        calls = self._calls
        if not calls or len(args) != len(self._parameters) or config().check:
            return None
        if type(wish[1]) not in _WISHES:
            return None
        for call in calls:
            if call.matches(args, wish):
                return call if call.left else None
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
        if len(args) != len(self._parameters) or any(type(said) not in _WISHES for said in wish):
            return
        if not is_repeatable(done.binding, made.given, done.grid, compiled.bound_names):
            return
        forms = _forms(self._parameters, args, made, compiled)
        if forms is None:
            return
        positions = {name: position for position, name in enumerate(self._parameters)}
        device = wish[0] or made.device
        call = Call(
            compiled.compilation.source,
            forms,
            wish,
            tuple((positions[name], where) for name, where in cuts.items()),
            compiled,
            # One program may have been compiled for a device that several wishes lead to.
            routing.choose(device),
            device,
            done.grid,
            done.binding.touched,
            hint_keys(compiled.compilation.source),
            threading.Lock(),
        )
        others = [known for known in self._calls if not known.matches(args, wish)]
        self._calls = (call, *others[: _REMEMBERED - 1])


def _forms(
    parameters: Mapping[str, Parameter],
    args: tuple[object, ...],
    made: Prepared,
    compiled: CompiledProgram,
) -> _Forms | None:
    """What calls must be like to be like this one; None if it has arguments of another kind."""
    arrays: list[tuple[int, Form]] = []
    resident: list[tuple[int, weakref.ref[DeviceArray]]] = []
    numbers: list[_Number] = []
    statics: list[tuple[int, type, object]] = []
    buffers: dict[str, object] = {}
    places: dict[str, int] = {}
    for position, (name, parameter) in enumerate(parameters.items()):
        value = args[position]
        if isinstance(parameter, StaticParameter):
            statics.append((position, type(value), value))
        elif isinstance(parameter, ScalarParameter):
            dtype = _type_of_number(compiled.compilation.source, name)
            if dtype is None or type(value) not in _NUMBERS:
                return None
            number = _Number(position, type(value), dtype)
            numbers.append(number)
            buffers[name] = number.memory
            if name in made.fixed:
                statics.append((position, type(value), value))
        elif isinstance(value, DeviceArray):
            resident.append((position, weakref.ref(value)))
            buffers[name] = _in_place(value)
        elif type(value) is np.ndarray and made.given[name] is value:
            arrays.append((position, form_of(value, written=name in made.written)))
            places[name] = position
        else:
            return None
    return _Forms(
        tuple(arrays),
        tuple(resident),
        tuple(numbers),
        tuple(statics),
        tuple(
            (index, places[name])
            for index, name in enumerate(compiled.bound_names)
            if name in places
        ),
        tuple(
            None if name in places else buffers[name] if name in buffers else _kept(made, name)
            for name in compiled.bound_names
        ),
    )


def _type_of_number(program: Program, name: str) -> np.dtype[Any] | None:
    """What a number is stored as, where that is what it looks like."""
    decl = program.buffer(name)
    if decl is None or decl.element.lanes != 1 or decl.element is DataType.BF16:
        return None
    dtype = numpy_type(decl.element)
    return dtype if dtype.itemsize == decl.element.size_bytes else None


def _in_place(array: DeviceArray) -> object:
    """An array of the device as one of the host's, which its device can only be if it launched."""
    view = array.memory().host_view()
    assert view is not None
    return np.frombuffer(view, array.dtype, array.size)


def _kept(made: Prepared, name: str) -> object:
    """A shape or another constant of the call, which nobody changes."""
    value = made.given[name]
    return value.numpy() if isinstance(value, DeviceArray) else value


__all__ = ["Call", "Recall"]
