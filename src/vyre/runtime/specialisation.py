"""What the arguments of a call decide about a kernel: generic types, static values, strides."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import front as codes
from vyre.front import KernelSource, Specialisation
from vyre.front.parameters import (
    GenericType,
    Layout,
    ScalarParameter,
    StaticParameter,
    element_type,
)
from vyre.ir import DataType
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_numbers import number_kind
from vyre.runtime.host_types import no_type_of_ours, type_of_numpy
from vyre.runtime.kernel_arguments import as_numpy, call_form

_NOTHING = Specialisation()


def specialise(
    kernel: KernelSource,
    given: Mapping[str, object],
    type_of: Callable[[object], DataType | None],
    layouts: Mapping[str, Layout] | None = None,
) -> Specialisation:
    """What arguments decide about generic types, compile-time values and strides."""
    views = tuple(layouts.items()) if layouts else ()
    if not kernel.is_open:
        return Specialisation(layouts=views) if views else _NOTHING
    types: dict[str, DataType] = {}
    statics: dict[str, int | float | bool] = {}

    def is_number(name: str) -> bool:
        # Types stand for numbers, too: `k.program(n=vy.f32)`.
        value = given[name]
        is_type = isinstance(value, (type, np.dtype))
        is_one = bool(number_kind(value)) or (not is_type and getattr(value, "ndim", None) == 0)
        return is_one and isinstance(kernel.parameters[name], ScalarParameter)

    for name, parameter in kernel.parameters.items():
        if isinstance(parameter, StaticParameter):
            statics[name] = _static(kernel, name, parameter, given)
        elif isinstance(parameter.dtype, GenericType) and name in given and not is_number(name):
            _decide(name, parameter.dtype, type_of(given[name]), types)
    _decide_by_numbers(kernel, {name: given[name] for name in given if is_number(name)}, types)
    for name, parameter in kernel.parameters.items():
        wanted = None if isinstance(parameter, StaticParameter) else parameter.dtype
        if isinstance(wanted, GenericType) and wanted.name not in types:
            raise _undecided(kernel, name, wanted, given)
    return Specialisation(tuple(sorted(types.items(), key=_first)), tuple(statics.items()), views)


def _decide_by_numbers(
    kernel: KernelSource, given: Mapping[str, object], types: dict[str, DataType]
) -> None:
    """Numbers with a type of numpy's decide where no array does; else they take what it says."""
    by_arrays = frozenset(types)
    for name, value in given.items():
        wanted = cast("ScalarParameter", kernel.parameters[name]).dtype
        dtype = getattr(value, "dtype", None)
        if isinstance(wanted, GenericType) and wanted.name not in by_arrays and dtype is not None:
            found = type_of_numpy(np.dtype(dtype).newbyteorder("="))
            _decide(name, wanted, found, types, "pass numbers of one type")


def _undecided(
    kernel: KernelSource, name: str, wanted: GenericType, given: Mapping[str, object]
) -> ArgumentError:
    problem = "is not decided by any argument"
    fix = f"pass numpy arrays, or types by name: {kernel.source.name}.program({name}=vy.f32)"
    value = given.get(name)
    dtype: object = getattr(value, "dtype", None)
    if isinstance(kernel.parameters[name], ScalarParameter):
        kind = number_kind(value)
        if kind == "c":
            problem = f"cannot be that of {value!r}"
            fix = "pass its two parts as two numbers: z.real and z.imag"
        elif kind:
            number = cast("float", value)
            whole = "int32" if -(2**31) <= number < 2**31 else "int64"
            shown = {"b": "bool_", "i": whole, "f": "float32"}[kind]
            fix = f"pass a number that has a type, such as np.{shown}({number!r})"
    elif isinstance(dtype, np.dtype):
        return no_type_of_ours(name, cast("np.dtype[Any]", dtype))
    return ArgumentError(codes.GENERIC.at(name=wanted.name, problem=problem, fix=fix))


def _first(item: tuple[str, DataType]) -> str:
    return item[0]


def _static(
    kernel: KernelSource, name: str, parameter: StaticParameter, given: Mapping[str, object]
) -> int | float | bool:
    if name not in given:
        problem = f"got no value for the static parameter {name!r}"
        raise ArgumentError(
            codes.ARGUMENTS.at(name=kernel.source.name, problem=problem, form=call_form(kernel))
        )
    value: Any = given[name]
    if isinstance(value, np.generic):
        value = cast("Any", value).item()
    kind = parameter.kind
    fits = type(value) is kind or (kind is float and type(value) is int)
    if not fits:
        expected = f"a Python {kind.__name__}"
        problem = f"is {type(value).__name__} {value!r}"
        raise ArgumentError(codes.ARGUMENT.at(name=name, problem=problem, expected=expected))
    # All NaNs are one: no kernel can tell them apart.
    return math.nan if value != value else kind(value)


def _decide(
    name: str,
    generic: GenericType,
    found: DataType | None,
    types: dict[str, DataType],
    instead: str = "pass arrays of one type",
) -> None:
    if found is None:
        return
    known = types.setdefault(generic.name, found)
    if known is not found:
        raise ArgumentError(
            codes.GENERIC.at(
                name=generic.name,
                problem=f"is {known} by one argument and {found} by {name!r}",
                fix=f"{instead}, or use two generic types",
            )
        )


def type_of_value(value: object) -> DataType | None:
    """The type that an argument stands for: an array's, a numpy scalar's, or a type itself."""
    named = element_type(value)
    if isinstance(named, DataType):
        return named
    given = cast("Any", value)
    dtype: np.dtype[Any] | None = None
    if isinstance(given, (type, np.dtype)):
        dtype = np.dtype(cast("Any", given))
    elif isinstance(given, (np.ndarray, np.generic, DeviceArray)):
        dtype = cast("np.dtype[Any]", given.dtype)
    elif not isinstance(given, (bool, int, float, str)):
        dtype = as_numpy("?", given, None).dtype
    return None if dtype is None else type_of_numpy(dtype.newbyteorder("="))
