"""The signature of the arguments of a kernel call: the key of the call cache.

Calls with equal signatures use the same prepared launch: arrays of the same type, numbers of the
same type, the same values of static parameters. Shapes and the values of numbers are arguments of
the launch; see `launch_sizes`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import copysign
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from vyre.front.parameters import Layout, Mode, ScalarParameter, StaticParameter
from vyre.ir import DataType
from vyre.ir.buffer import SHAPE, STRIDES
from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray, in_place
from vyre.runtime.host_arrays import (
    ALIGNED,
    CONTIGUOUS,
    WRITABLE,
    Form,
    are_apart,
    form_of,
    has_form_but_for_lengths,
    may_be_mapped,
)
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel_arguments import Prepared
from vyre.runtime.kernel_views import clearing_of_view, view_form
from vyre.runtime.launch_sizes import ArrayPlace
from vyre.runtime.memory_pool import Held

if TYPE_CHECKING:
    from vyre.driver.backend import Device
    from vyre.front import KernelSource
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram

BindingFunction = Callable[..., tuple[object, ...]]
"""Takes arguments, memory of device arrays, that of scalars, and the buffers of shapes."""
_FORMATS: Final = {
    **{"b1": "?", "u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i"},
    **{"u8": "Q", "i8": "q", "f2": "e", "f4": "f", "f8": "d"},
}
"""`struct` formats of numpy types."""
_NUMBERS: Final = frozenset({bool, int, float, *(np.dtype(name).type for name in _FORMATS)})
_EXACT: Final = 1 << 53
"""Integers up to here are converted to floats exactly, so without double rounding."""


class Number:
    """A scalar argument, and the memory from which the kernel reads it."""

    __slots__ = ("_bytes", "_is_float_of_int", "_pack", "kind", "memory", "name", "position")

    def __init__(self, name: str, position: int, kind: type, dtype: np.dtype[Any]) -> None:
        self.name = name
        self.position = position
        self.kind = kind
        self.memory = np.zeros(1, dtype)
        self._bytes = self.memory.data.cast("B")
        self._pack = struct.Struct("=" + _FORMATS[dtype.str[1:]]).pack_into
        self._is_float_of_int = issubclass(kind, (int, np.integer)) and dtype.kind == "f"

    def anew(self) -> Number:
        """A copy with memory of its own."""
        return Number(self.name, self.position, self.kind, self.memory.dtype)

    def take(self, value: Any) -> bool:
        """Store a value for the kernel; False if it needs the checks of an uncached call."""
        if self._is_float_of_int and not -_EXACT <= value <= _EXACT:
            return False
        try:
            self._pack(self._bytes, 0, value)
        except (struct.error, OverflowError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class ViewPlace:
    """An argument that is a view with strides, used in place."""

    name: str
    position: int
    dtype: np.dtype[Any]
    layout: Layout
    flags: int
    """Bits of numpy's `flags.num` that it must have."""
    is_written: bool
    is_out: bool
    buffer: int
    """Among the buffers of the launch."""

    def matches(self, value: Any) -> bool:
        """True if a value is a view that lies in memory in the same manner."""
        if type(value) is not np.ndarray or value.dtype != self.dtype:
            return False
        flags: int = value.flags.num
        if flags & CONTIGUOUS or flags & self.flags != self.flags:
            return False
        form = view_form(value.shape, value.strides, self.dtype.itemsize)
        if form is None or form.layout is not self.layout:
            return False
        if self.is_out and form.pieces is None:
            return False
        return not (self.is_written and form.repeats)

    def clearing(self, value: Any) -> bytes:
        """The runs of bytes that zero a view, as a launch takes them."""
        return clearing_of_view(value.shape, value.strides, self.dtype.itemsize, self.buffer)


@dataclass(slots=True)
class ArgumentSignature:
    """What arguments have to match, and the buffers that they are bound to."""

    names: tuple[str, ...]
    """The buffers, in the order in which the launch takes them."""
    arrays: tuple[tuple[int, Form], ...]
    """Positions and forms of arrays of the host."""
    resident: tuple[tuple[int, np.dtype[Any], Device], ...]
    """Positions, types and devices of device arrays."""
    numbers: tuple[Number, ...]
    statics: tuple[tuple[int, type, object], ...]
    """Values of static parameters: position, type, value."""
    places: tuple[ArrayPlace, ...]
    """All arrays, in the order of the arguments."""
    shapes: tuple[int, ...]
    """Which of the arrays have a buffer that holds their shape."""
    written: tuple[str, ...]
    """The buffers that the kernel may write."""
    viewed: tuple[int, ...]
    """Positions of arrays that are written and whose memory may be that of a mapped file."""
    views: tuple[ViewPlace, ...]
    """Arguments that are views with strides; also in `places`."""
    idle: list[tuple[Number, ...]]
    """Memory of scalar arguments that no launch uses now; each thread takes its own."""

    def match(self, args: tuple[Any, ...], held: list[Held]) -> bool:
        """True if arguments have this signature.

        The memory of device arrays is appended to `held`, which keeps it from being reused if
        another thread frees it.
        """
        for position, form in self.arrays:
            if not has_form_but_for_lengths(args[position], form):
                return False
        for view in self.views:
            if not view.matches(args[view.position]):
                return False
        if self.viewed and not all(are_apart(args[position], args) for position in self.viewed):
            return False
        for number in self.numbers:
            if type(args[number.position]) is not number.kind:
                return False
        for position, dtype, device in self.resident:
            array = args[position]
            if type(array) is not DeviceArray or array.device is not device:
                return False
            memory = array.held
            if memory is None or array.dtype != dtype:
                return False
            held.append(memory)
        # Most kernels have no static values, and an empty call costs time as well.
        return not self.statics or _are_the_same(self.statics, args)

    def taken(self) -> tuple[Number, ...]:
        """Memory of scalars for one launch, to be given back to `idle`."""
        try:
            return self.idle.pop()
        except IndexError:  # other threads use all there is
            return tuple([number.anew() for number in self.numbers])

    def has_layout_of(self, other: ArgumentSignature) -> bool:
        """True if functions that are made for one signature serve the other."""
        return (
            self.names == other.names
            and self.views == other.views
            and self.places == other.places
            and self.shapes == other.shapes
            and [(one.name, one.position) for one in self.numbers]
            == [(one.name, one.position) for one in other.numbers]
        )

    def binding_function(self) -> BindingFunction:
        """A function that gives the array of each buffer.

        Compiled from source: 0.11 µs for three buffers, where a closure over positions takes 0.9,
        which is a tenth of a call.
        """
        resident = [position for position, _, _ in self.resident]
        found = {
            place.name: f"in_place(args[{place.position}], held[{resident.index(place.position)}])"
            if place.position in resident
            else f"args[{place.position}]"
            for place in self.places
        }
        found |= {one.name: f"numbers[{k}].memory" for k, one in enumerate(self.numbers)}
        for k, array in enumerate(self.shapes):
            found[self.places[array].name + SHAPE] = f"shapes[{k}]"
        for view in self.views:
            given = f"args[{view.position}]"
            form = f"view_form({given}.shape, {given}.strides, {view.dtype.itemsize})"
            found[view.name + STRIDES] = f"{form}.steps"
        bound = "".join(f"{found[name]}, " for name in self.names)
        scope: dict[str, Any] = {"in_place": in_place, "view_form": view_form}
        exec(f"def bound(args, held, numbers, shapes):\n    return ({bound})", scope)
        return scope["bound"]

    def prepared(self, args: tuple[Any, ...], numbers: Sequence[Number]) -> Prepared:
        """The arguments as an uncached call prepares them."""
        given = {place.name: args[place.position] for place in self.places}
        written: dict[str, Any] = {name: given[name] for name in self.written}
        made = Prepared(given, written, is_resident=False)
        made.shapes = {place.name: args[place.position].shape for place in self.places}
        made.layouts = {view.name: view.layout for view in self.views}
        for number in numbers:
            made.given[number.name] = number.memory
            made.numbers[number.name] = args[number.position]
        return made


def _are_the_same(values: tuple[tuple[int, type, object], ...], args: tuple[Any, ...]) -> bool:
    """True if arguments are bitwise equal to values; NaN equals NaN."""
    for position, kind, value in values:
        given = args[position]
        if type(given) is not kind:
            return False
        if given != value:
            if given == given or value == value:
                return False
        elif not given and copysign(1.0, given) != copysign(1.0, cast("float", value)):
            # 0.0 == -0.0, but their bits differ.
            return False
    return True


def signature_of(
    kernel: KernelSource, args: tuple[object, ...], made: Prepared, compiled: CompiledProgram
) -> ArgumentSignature | None:
    """The signature of a call; None if it has arguments that cannot be bound in place."""
    names = compiled.bound_names
    arrays: list[tuple[int, Form]] = []
    resident: list[tuple[int, np.dtype[Any], Device]] = []
    numbers: list[Number] = []
    statics: list[tuple[int, type, object]] = []
    places: list[ArrayPlace] = []
    views: list[ViewPlace] = []
    for position, (name, parameter) in enumerate(kernel.parameters.items()):
        value = args[position]
        if isinstance(parameter, StaticParameter):
            statics.append((position, type(value), value))
            continue
        if isinstance(parameter, ScalarParameter):
            dtype = _type_of_number(compiled.compilation.source, name)
            if dtype is None or type(value) not in _NUMBERS:
                return None
            numbers.append(Number(name, position, type(value), dtype))
            continue
        layout = made.layouts.get(name)
        if layout is not None and type(value) is np.ndarray and name in names:
            is_written, is_out = name in made.written, parameter.mode is Mode.OUT
            flags = ALIGNED | (WRITABLE if is_written else 0)
            where = names.index(name)
            views.append(
                ViewPlace(name, position, value.dtype, layout, flags, is_written, is_out, where)
            )
        elif type(value) is DeviceArray:
            resident.append((position, value.dtype, value.device))
        elif type(value) is np.ndarray and made.given[name] is value:
            arrays.append((position, form_of(value, written=name in made.written)))
        else:
            return None
        if name not in names:
            return None
        is_out = parameter.mode is Mode.OUT
        rank, itemsize = len(value.shape), value.dtype.itemsize
        places.append(ArrayPlace(name, position, names.index(name), rank, itemsize, is_out))
    shapes = tuple(index for index, one in enumerate(places) if one.name + SHAPE in names)
    if len(names) != len(places) + len(numbers) + len(shapes) + len(views):
        return None
    viewed = [position for position, form in arrays if may_be_mapped(form)]
    viewed += [view.position for view in views if view.is_written]
    return ArgumentSignature(
        names,
        tuple(arrays),
        tuple(resident),
        tuple(numbers),
        tuple(statics),
        tuple(places),
        shapes,
        tuple(made.written),
        tuple(viewed),
        tuple(views),
        [tuple(numbers)],
    )


def _type_of_number(program: Program, name: str) -> np.dtype[Any] | None:
    """The numpy type in which a scalar is stored; None if its representation differs."""
    decl = program.buffer(name)
    if decl is None or decl.element.lanes != 1 or decl.element is DataType.BF16:
        return None
    if decl.element.value_type is not decl.element:
        return None
    dtype = numpy_type(decl.element)
    return dtype if dtype.itemsize == decl.element.size_bytes else None


__all__ = ["ArgumentSignature", "signature_of"]
