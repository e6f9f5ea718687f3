"""The signature of the arguments of a kernel call: the key of the call cache.

Calls with equal signatures use the same prepared launch: arrays of the same type and shape, numbers
of the same type, the same values of static parameters. A match except for lengths reuses all but
what depends on lengths: the grid, and the ranges that are zeroed before the launch.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Mapping
from dataclasses import replace
from math import copysign
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from vyre.front.parameters import ScalarParameter, StaticParameter
from vyre.ir import DataType
from vyre.ir.buffer import SHAPE
from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_arrays import (
    Form,
    are_apart,
    form_of,
    has_form,
    has_form_but_for_lengths,
    may_be_mapped,
)
from vyre.runtime.host_arrays import numbers as numbers_in_array
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel_arguments import Prepared
from vyre.runtime.memory_pool import Held

if TYPE_CHECKING:
    from vyre.front.parameters import Parameter
    from vyre.ir import Program
    from vyre.runtime.compiled import CompiledProgram

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


@dataclass(slots=True)
class ArgumentSignature:
    """What arguments have to match, and the buffers that they are bound to."""

    names: tuple[str, ...]
    """The buffers, in the order in which the launch takes them."""
    arrays: tuple[tuple[int, Form], ...]
    """Positions, and type and shape, of arrays of the host."""
    resident: tuple[tuple[int, weakref.ref[DeviceArray]], ...]
    numbers: tuple[Number, ...]
    statics: tuple[tuple[int, type, object], ...]
    """Values of static parameters: position, type, value."""
    fixed: tuple[tuple[int, type, object], ...]
    """Values of scalars that decide what is zeroed: position, type, value."""
    places: tuple[tuple[int, int], ...]
    """Buffer index and argument position of each array."""
    shapes: tuple[tuple[int, int], ...]
    """Buffer index of a shape, and the position of its array."""
    written: tuple[str, ...]
    """The buffers that the kernel may write."""
    buffers: tuple[object, ...]
    """The array of each buffer that is no array argument."""
    has_any_length: bool
    """True if only shapes depend on the lengths of arrays."""
    viewed: tuple[int, ...]
    """Positions of arrays that are written and whose memory may be that of a mapped file."""

    def match(self, args: tuple[Any, ...], held: list[Held]) -> bool:
        """True if arguments have this signature.

        The memory of device arrays is appended to `held`, which keeps it from being reused if
        another thread frees it.
        """
        for position, form in self.arrays:
            if not has_form(args[position], form):
                return False
        if self.viewed and not all(are_apart(args[position], args) for position in self.viewed):
            return False
        # Most kernels have no fixed values, and an empty call costs time as well.
        alike = self._others_match(args, held)
        return alike and (not self.fixed or _are_the_same(self.fixed, args))

    def match_but_for_lengths(self, args: tuple[Any, ...]) -> bool:
        """True if arguments have this signature except for lengths of arrays of the host."""
        if not self.has_any_length:
            return False
        for position, form in self.arrays:
            if not has_form_but_for_lengths(args[position], form):
                return False
        if self.viewed and not all(are_apart(args[position], args) for position in self.viewed):
            return False
        return self._others_match(args, [])

    def _others_match(self, args: tuple[Any, ...], held: list[Held]) -> bool:
        for number in self.numbers:
            if type(args[number.position]) is not number.kind:
                return False
        for position, known in self.resident:
            array = known()
            if array is None or args[position] is not array:
                return False
            memory = array.held
            if memory is None:
                return False
            held.append(memory)
        return not self.statics or _are_the_same(self.statics, args)

    def bound(self, args: tuple[Any, ...]) -> list[object]:
        """The array of each buffer, for these arguments."""
        buffers = list(self.buffers)
        for index, position in self.places:
            buffers[index] = args[position]
        return buffers

    def for_lengths_of(self, args: tuple[Any, ...]) -> ArgumentSignature | None:
        """The signature with the lengths of these arguments; None if a scalar does not fit."""
        numbers = tuple(number.anew() for number in self.numbers)
        if not all(number.take(args[number.position]) for number in numbers):
            return None
        buffers = list(self.buffers)
        for number in numbers:
            buffers[self.names.index(number.name)] = number.memory
        for index, position in self.shapes:
            buffers[index] = numbers_in_array(args[position].shape)
        arrays = tuple(
            (position, (args[position].shape, *form[1:])) for position, form in self.arrays
        )
        return ArgumentSignature(
            self.names,
            arrays,
            self.resident,
            numbers,
            self.statics,
            (),
            self.places,
            self.shapes,
            self.written,
            tuple(buffers),
            self.has_any_length,
            self.viewed,
        )

    def prepared(self, args: tuple[Any, ...]) -> Prepared:
        """The arguments as an uncached call prepares them."""
        given = dict(zip(self.names, self.bound(args), strict=True))
        written: dict[str, Any] = {name: given[name] for name in self.written}
        made = Prepared(given, written, is_resident=False)
        made.shapes = {self.names[index]: args[position].shape for index, position in self.places}
        made.numbers = {number.name: args[number.position] for number in self.numbers}
        return made

    def fixing(self, made: Prepared, args: tuple[Any, ...]) -> ArgumentSignature:
        """The signature restricted to the values of scalars that decided what is zeroed."""
        if not made.fixed:
            return self
        fixed = [number for number in self.numbers if number.name in made.fixed]
        values = ((number.position, number.kind, args[number.position]) for number in fixed)
        return replace(self, fixed=tuple(values))


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
    parameters: Mapping[str, Parameter],
    args: tuple[object, ...],
    made: Prepared,
    compiled: CompiledProgram,
) -> ArgumentSignature | None:
    """The signature of a call; None if it has arguments that cannot be bound in place."""
    arrays: list[tuple[int, Form]] = []
    resident: list[tuple[int, weakref.ref[DeviceArray]]] = []
    numbers: list[Number] = []
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
            number = Number(name, position, type(value), dtype)
            numbers.append(number)
            buffers[name] = number.memory
        elif isinstance(value, DeviceArray):
            held = value.held
            if held is None:  # another thread has freed it
                return None
            resident.append((position, weakref.ref(value)))
            buffers[name] = _in_place(value, held)
        elif type(value) is np.ndarray and made.given[name] is value:
            arrays.append((position, form_of(value, written=name in made.written)))
            places[name] = position
        else:
            return None
    names = compiled.bound_names
    shapes = {name + SHAPE: position for name, position in places.items()}
    return ArgumentSignature(
        names,
        tuple(arrays),
        tuple(resident),
        tuple(numbers),
        tuple(statics),
        (),
        tuple((index, places[name]) for index, name in enumerate(names) if name in places),
        tuple((index, shapes[name]) for index, name in enumerate(names) if name in shapes),
        tuple(made.written),
        tuple(
            None if name in places else buffers[name] if name in buffers else _kept(made, name)
            for name in names
        ),
        not resident and all(name in places or name in buffers or name in shapes for name in names),
        tuple(position for position, form in arrays if may_be_mapped(form)),
    ).fixing(made, args)


def _type_of_number(program: Program, name: str) -> np.dtype[Any] | None:
    """The numpy type in which a scalar is stored; None if its representation differs."""
    decl = program.buffer(name)
    if decl is None or decl.element.lanes != 1 or decl.element is DataType.BF16:
        return None
    if decl.element.value_type is not decl.element:
        return None
    dtype = numpy_type(decl.element)
    return dtype if dtype.itemsize == decl.element.size_bytes else None


def _in_place(array: DeviceArray, held: Held) -> object:
    """A host view of a device array; its device shares memory with the host."""
    view = held.memory.host_view()
    assert view is not None
    return np.frombuffer(view, array.dtype, array.size)


def _kept(made: Prepared, name: str) -> object:
    """A shape or another constant of the call."""
    value = made.given[name]
    return value.numpy() if isinstance(value, DeviceArray) else value


__all__ = ["ArgumentSignature", "signature_of"]
