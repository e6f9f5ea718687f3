"""What a call of a kernel passes, turned into what a dispatch binds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import front as codes
from vyre.front import KernelSource
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Layout,
    Mode,
    ScalarParameter,
    StaticParameter,
)
from vyre.front.scalars import scalar_name
from vyre.ir import BufferAccess, DataType, Program
from vyre.ir.buffer import SHAPE
from vyre.record import dataclass
from vyre.runtime.arguments import refuse_aliases
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.device_array import array as array_on
from vyre.runtime.host_arrays import (
    as_host_array,
    check_length,
    check_writable,
    instead_of,
    is_plain,
    numbers,
    typed_view,
)
from vyre.runtime.host_numbers import as_element, number_kind
from vyre.runtime.host_views import NO_VIEW, host_view, in_numpy
from vyre.signals import is_from_handler

Host = np.ndarray[Any, np.dtype[Any]]


@dataclass(slots=True)
class Prepared:
    """Arguments, ready to be bound."""

    given: dict[str, object] = field(default_factory=dict[str, object])
    written: dict[str, Host | DeviceArray] = field(default_factory=dict[str, Host | DeviceArray])
    views: list[str] = field(default_factory=list[str])
    """Parameters whose arrays are not contiguous."""
    layouts: dict[str, Layout] = field(default_factory=dict[str, Layout])
    """Views that are used in place."""
    device: str | None = None
    """Where the device arrays among the arguments live."""
    is_resident: bool = True
    """Whether all arrays among the arguments live on a device."""
    fixed: set[str] = field(default_factory=set[str])
    """Numbers by which it was decided what is cleared."""
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Those of the arrays, by parameter."""
    numbers: dict[str, Any] = field(default_factory=dict[str, Any])
    """The other arguments, as they were given."""

    def length(self, buffer: str) -> int:
        """How many elements an array has."""
        return math.prod(self.shapes[buffer])

    def extent(self, buffer: str, axis: int) -> int:
        """How long an array is along an axis."""
        return self.shapes[buffer][axis]

    def number(self, name: str) -> int:
        """The value of a parameter that is one integer."""
        return int(self.numbers[name])


def check_aliases(made: Prepared) -> None:
    """Refuse arrays that share memory and are written, as a dispatch does."""
    bound: dict[str, object] = {**made.given, **made.written}
    hosts: dict[str, Host] = {
        name: cast("Host", each) for name, each in bound.items() if isinstance(each, np.ndarray)
    }
    refuse_aliases(bound, hosts, made.written)


def by_parameter(
    kernel: KernelSource, args: tuple[object, ...], kwargs: Mapping[str, object], *, partial: bool
) -> dict[str, object]:
    """Arguments by the names of the parameters, as Python binds them."""
    if not kwargs and len(args) == len(kernel.parameters) and not kernel.keyword_only:
        return dict(zip(kernel.parameters, args, strict=True))
    signature = _signature(kernel)
    try:
        bound = (
            signature.bind_partial(*args, **kwargs) if partial else signature.bind(*args, **kwargs)
        )
    except TypeError as problem:
        name = kernel.source.name
        raise ArgumentError(
            codes.ARGUMENTS.at(name=name, problem=f"got {_gently(problem)}", form=call_form(kernel))
        ) from problem
    bound.apply_defaults()
    return dict(bound.arguments)


@lru_cache(maxsize=256)
def _signature(kernel: KernelSource) -> inspect.Signature:
    keyword_only = kernel.keyword_only
    kind = inspect.Parameter
    return inspect.Signature(
        [
            kind(
                name,
                kind.KEYWORD_ONLY if name in keyword_only else kind.POSITIONAL_OR_KEYWORD,
                default=kernel.defaults.get(name, kind.empty),
            )
            for name in kernel.parameters
        ]
    )


def _gently(problem: TypeError) -> str:
    text = str(problem)
    return text.removeprefix("got ") if text.startswith("got ") else f"wrong arguments: {text}"


def call_form(kernel: KernelSource) -> str:
    """A call of a kernel as one writes it."""
    by_name = kernel.keyword_only
    shown = [f"{name}={name}" if name in by_name else name for name in kernel.parameters]
    return f"{kernel.source.name}({', '.join(shown)})"


def prepare(kernel: KernelSource, given: Mapping[str, object]) -> Prepared:
    """Arguments as arrays, with shapes where the kernel wants them."""
    made = Prepared()
    for name, parameter in kernel.parameters.items():
        match parameter:
            case StaticParameter():
                continue
            case ScalarParameter(dtype):
                made.given[name] = _number(name, dtype, given[name])
                made.numbers[name] = given[name]
            case ArrayParameter():
                _add_array(made, name, parameter, given[name])
    return made


def _number(name: str, dtype: DataType | GenericType, given: object) -> object:
    value: Any = given
    if not isinstance(given, np.generic) and getattr(given, "ndim", None) == 0:
        value = as_numpy(name, given, None)[()]
    if not number_kind(value):
        expected = f"a number, such as {_example(dtype)}"
        problem = f"is {type(value).__name__}"
        raise ArgumentError(codes.ARGUMENT.at(name=name, problem=problem, expected=expected))
    if isinstance(dtype, GenericType) or dtype.lanes > 1:
        return value
    return as_element(value, dtype, name)


def _example(dtype: DataType | GenericType) -> str:
    if isinstance(dtype, GenericType):
        return "1"
    return "1.5" if dtype.is_float else "True" if dtype.is_bool else "1"


def array_argument(name: str, parameter: ArrayParameter, value: object) -> Host | DeviceArray:
    """What a caller passes for an array, checked against its parameter."""
    written = parameter.mode is not Mode.IN
    if isinstance(value, DeviceArray):
        array = value
    elif isinstance(parameter.dtype, GenericType):
        array = as_numpy(name, value, None)
        if written:
            check_writable(name, array, value)
    else:
        array = as_numpy(name, value, parameter.dtype, written=written)
    _check_rank(name, parameter, array, value)
    check_length(name, array.shape, getattr(parameter.dtype, "lanes", 1))
    return array


def _add_array(made: Prepared, name: str, parameter: ArrayParameter, value: object) -> None:
    written = parameter.mode is not Mode.IN
    array = array_argument(name, parameter, value)
    if parameter.rank > 1:
        made.given[name + SHAPE] = numbers(array.shape)
    if isinstance(array, DeviceArray):
        made.device = array.device.info.id
    else:
        made.is_resident = False
        if not is_plain(array):
            made.views.append(name)
    made.given[name] = array
    made.shapes[name] = array.shape
    if written:
        made.written[name] = array


def _check_rank(
    name: str, parameter: ArrayParameter, array: Host | DeviceArray, value: object
) -> None:
    if array.ndim == parameter.rank:
        return
    dtype = parameter.dtype
    shown = scalar_name(dtype) if isinstance(dtype, DataType) else str(dtype)
    form = f"vy.{parameter.mode.value}[{shown}, {parameter.rank}]"
    expected = f"an array of {_axes(parameter.rank)}"
    if parameter.rank == 1 and isinstance(array, np.ndarray):
        flat = f"{in_numpy(value, name)}.reshape(-1)"
        if parameter.mode is Mode.IN or array.flags.c_contiguous:
            expected += f", such as {flat}"
        else:
            # Of an array with gaps that is a copy, which would take what is written with it.
            expected = f"a copy of one axis and read the result from it: {flat}"
    problem = f"has {_axes(array.ndim)}, and the parameter is {form}"
    raise ArgumentError(codes.ARGUMENT.at(name=name, problem=problem, expected=expected))


def _axes(count: int) -> str:
    return {0: "no axes", 1: "one axis"}.get(count, f"{count} axes")


def as_numpy(name: str, value: object, dtype: DataType | None, *, written: bool = False) -> Host:
    """Any array-like of the host as a numpy array on the same memory, of a type if one is known."""
    try:
        if dtype is not None:
            return typed_view(value, dtype, name, written=written)
        return host_view(value)
    except ArgumentError:
        raise
    except NO_VIEW as problem:
        if is_from_handler(problem):
            raise
        expected = instead_of(value, name, dtype or DataType.F32, written=written)
        found = f"is {type(value).__name__}"
        if hasattr(value, "__dlpack__") or isinstance(value, memoryview):
            found += f" and cannot be shared: {problem}"
        raise ArgumentError(
            codes.ARGUMENT.at(name=name, problem=found, expected=expected)
        ) from problem


def keep_numbers(program: Program, made: Prepared) -> None:
    """Numbers and shapes as arrays where the other arrays are, the same ones for the same values.

    Dispatches that bring the same numbers are then like one before, and nothing is copied.
    """
    for decl in program.buffers:
        if decl.access is not BufferAccess.UNIFORM:
            continue
        host = as_host_array(made.given[decl.name], decl)
        if made.device is not None and made.is_resident:
            made.given[decl.name] = _resident(made.device, host.dtype.str, host.tobytes())
        else:
            made.given[decl.name] = _on_host(host.dtype.str, host.tobytes())


@lru_cache(maxsize=512)
def _on_host(dtype: str, data: bytes) -> Host:
    return np.frombuffer(data, dtype)


@lru_cache(maxsize=512)
def _resident(device: str, dtype: str, data: bytes) -> DeviceArray:
    return array_on(np.frombuffer(data, dtype), device)


__all__ = [
    "Prepared",
    "array_argument",
    "as_numpy",
    "by_parameter",
    "call_form",
    "keep_numbers",
    "prepare",
]
