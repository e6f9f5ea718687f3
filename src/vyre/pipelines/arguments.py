"""What a call of a pipeline passes: arrays and numbers by parameter."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, cast

import numpy as np

from vyre.diagnostics import ArgumentError, PlanError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import front as codes
from vyre.diagnostics.codes import pipeline as pipeline_codes
from vyre.driver import routing
from vyre.driver.backend import Device, DeviceKind, DeviceMemory
from vyre.driver.routing import Route
from vyre.front.parameters import ArrayParameter, Mode, ScalarParameter
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.stages import PipelineSource, call_form, is_written
from vyre.record import dataclass
from vyre.runtime.arguments import refuse_aliases
from vyre.runtime.copies import read_back
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_numbers import as_element, number_kind
from vyre.runtime.kernel_arguments import Host, array_argument


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call."""

    arrays: Mapping[str, Host | DeviceArray]
    numbers: Mapping[str, tree.Value]
    device: str | None
    """Where the device arrays among the arguments live."""
    is_on_host: bool
    """True if no argument is a device array."""


def bind_arguments(
    written: PipelineSource, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Arguments:
    """Check arguments as a kernel with these parameters does."""
    given = _by_parameter(written, args, kwargs)
    arrays: dict[str, Host | DeviceArray] = {}
    numbers: dict[str, tree.Value] = {}
    for name, parameter in written.parameters.items():
        if isinstance(parameter, ArrayParameter):
            arrays[name] = array_argument(name, parameter, given[name])
        else:
            numbers[name] = _number(name, parameter, given[name])
    resident = [each for each in arrays.values() if isinstance(each, DeviceArray)]
    hosts = {name: each for name, each in arrays.items() if not isinstance(each, DeviceArray)}
    kept = {name: arrays[name] for name in arrays if is_written(written.parameters[name])}
    refuse_aliases(cast("dict[str, object]", arrays), hosts, kept)
    device = resident[-1].device.info.id if resident else None
    return Arguments(arrays, numbers, device, not resident)


def _by_parameter(
    written: PipelineSource, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> dict[str, object]:
    names = written.parameters
    if not kwargs and len(args) == len(names) and not written.keyword_only:
        return dict(zip(names, args, strict=True))
    try:
        bound = _signature(written).bind(*args, **kwargs)
    except TypeError as problem:
        form = call_form(written.name, names, written.keyword_only)
        shown = f"got wrong arguments: {problem}"
        raise ArgumentError(
            codes.ARGUMENTS.at(name=written.name, problem=shown, form=form)
        ) from problem
    bound.apply_defaults()
    return dict(bound.arguments)


@lru_cache(maxsize=256)
def _signature(written: PipelineSource) -> inspect.Signature:
    kind, by_name = inspect.Parameter, written.keyword_only
    return inspect.Signature(
        [
            kind(
                name,
                kind.KEYWORD_ONLY if name in by_name else kind.POSITIONAL_OR_KEYWORD,
                default=written.defaults.get(name, kind.empty),
            )
            for name in written.parameters
        ]
    )


def _number(name: str, parameter: Any, value: Any) -> tree.Value:
    """A scalar argument, as it was given: kernels round it, the host computes with it."""
    found: Any = cast("Any", value).item() if isinstance(value, np.generic) else value
    if not number_kind(found) or isinstance(found, complex):
        kind = type(cast("object", value)).__name__
        problem, expected = f"is {kind}", "a number, such as 1"
        raise ArgumentError(codes.ARGUMENT.at(name=name, problem=problem, expected=expected))
    if isinstance(parameter, ScalarParameter) and isinstance(parameter.dtype, DataType):
        as_element(found, parameter.dtype, name)
    return found


@dataclass(frozen=True, slots=True)
class Placed:
    """Arguments where a device can use them, and what the caller gets back afterwards."""

    arrays: Mapping[str, Host | DeviceArray]
    copied: tuple[tuple[Host, DeviceArray], ...]
    """Arrays of the host that are written, and the device arrays that stand for them."""
    is_in_place: bool = True
    """True if these are the caller's own arrays."""

    @contextmanager
    def handed_back(self) -> Iterator[None]:
        """Copy what was written when a block has ended, also if a loop in it did not (P109)."""
        try:
            yield
        except PlanError as error:
            if error.code == pipeline_codes.MOST_REACHED.code:
                self.read_back()
            raise
        self.read_back()

    def read_back(self) -> None:
        """Copy what was written to the arrays of the host, with one wait."""
        pending: list[tuple[Host, DeviceMemory]] = []
        scattered: list[tuple[Host, DeviceArray]] = []
        for host, array in self.copied:
            if host.nbytes and host.flags.c_contiguous:
                pending.append((host, array.hold().memory))
            elif host.nbytes:
                scattered.append((host, array))
        if pending:
            read_back(self.copied[0][1].device, pending)
        for host, array in scattered:
            host[...] = array.numpy()


def route_of(given: Arguments, device: str | None) -> Route:
    """Where a call runs; an error if an array among its arguments is elsewhere."""
    route = routing.choose(device or given.device)
    for name, array in given.arrays.items():
        if isinstance(array, DeviceArray) and array.device is not route.device:
            found, expected = array.device.info.id, route.device.info.id
            raise ArgumentError(
                driver_codes.WRONG_DEVICE.at(name=name, found=found, expected=expected)
            )
    return route


def place(given: Arguments, device: Device, written: PipelineSource) -> Placed:
    """Copy arrays of the host to a device that does not share their memory."""
    if device.info.kind in (DeviceKind.CPU, DeviceKind.REFERENCE):
        return Placed(given.arrays, ())
    arrays: dict[str, Host | DeviceArray] = {}
    copied: list[tuple[Host, DeviceArray]] = []
    any_host = any(not isinstance(each, DeviceArray) for each in given.arrays.values())
    for name, array in given.arrays.items():
        if isinstance(array, DeviceArray):
            arrays[name] = array
            continue
        parameter = written.parameters[name]
        on_device = DeviceArray(device, array.shape, array.dtype)
        if isinstance(parameter, ArrayParameter) and parameter.mode is not Mode.OUT:
            on_device.write(array)
        arrays[name] = on_device
        if is_written(parameter):
            copied.append((array, on_device))
    return Placed(arrays, tuple(copied), is_in_place=not any_host)
