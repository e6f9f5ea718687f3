"""The state that a translation captures: globals, closure variables and attributes it reads.

A translation depends on the text of the kernel, on its parameters, and on what the names in it
mean. Names are looked up in two places: a name of the function that is being translated, and an
attribute of a module. Each such read has a path from the kernel: `("vy", "math", "exp")` is an
attribute of an attribute of what the kernel calls `vy`, and `("helper", "N")` is what the device
function that the kernel calls `helper` calls `N`. Two translations whose reads give the same marks
are the same, for nothing else from outside enters them.

A mark says all that a translation can find out about a value. What has none, such as an object of a
class that vyre does not know, makes a translation depend on more than can be written down, and such
a kernel is translated anew by every process.
"""

from __future__ import annotations

import builtins
import struct
import sys
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

from vyre.front.device_functions import AnyFunction, DeviceFunction
from vyre.front.parameters import (
    ArrayParameter,
    GenericType,
    Parameter,
    ScalarParameter,
)
from vyre.front.scalars import BY_NUMPY_NAME, ScalarType
from vyre.front.source import MISSING, Source
from vyre.ir import DataType
from vyre.record import dataclass

Path = tuple[str, ...]
_OF_FUNCTIONS = ("vyre.front.group", "vyre.front.intrinsics", "vyre.front.math")
OWN_MODULES = frozenset({"vyre", "vyre.front.subgroup", *_OF_FUNCTIONS})
"""Modules whose attributes are vyre's."""


@dataclass(frozen=True, slots=True)
class Read:
    """Something that a translation looked at, and what it found."""

    owner: object
    """A function whose names are looked up, a dictionary, or what has the attribute."""
    name: str
    value: object


class Reads:
    """Writes down what a translation reads."""

    def __init__(self, source: Source) -> None:
        self.at: dict[Path, Read] = {}
        """Reads that have a path."""
        self.are_all = True
        """Whether that is all of them."""
        self.every: list[Read] = []
        """All reads, also those that have no path."""
        self._path_of: dict[int, Path] = {id(source): ()}
        self._held: list[object] = [source]  # so that no other object gets the same id

    def name(self, source: Source, name: str, value: object) -> None:
        """A name of a function was looked up."""
        self._add(self._path_of.get(id(source)), Read(source, name, value))

    def attribute(self, owner: object, name: str, value: object) -> None:
        """An attribute of something was looked up."""
        known = self._path_of.get(id(owner)) if type(owner) is ModuleType else None
        self._add(known, Read(owner, name, value))

    def call(self, function: AnyFunction) -> None:
        """A device function was called, maybe with its defaults."""
        self.every += defaults_of(function)

    def functions(self) -> list[Source]:
        """The device functions that were read."""
        return [held for held in self._held[1:] if isinstance(held, Source)]

    def _add(self, owner: Path | None, read: Read) -> None:
        self.every.append(read)
        value = read.value
        known = None if owner is None else self.at.setdefault((*owner, read.name), read)
        if owner is None or known is None or known.value is not value:
            # It has no path, or was something else a moment ago.
            self.are_all = False
            return
        path = (*owner, read.name)
        if isinstance(value, DeviceFunction):
            value = cast("AnyFunction", value).source
        self._path_of.setdefault(id(value), path)
        self._held.append(value)


def defaults_of(function: AnyFunction) -> list[Read]:
    """The reads of what a device function takes for arguments that are not given."""
    given = function.function
    found: list[Read] = []
    if given.__defaults__ is not None:
        found.append(Read(given, "__defaults__", given.__defaults__))
    if given.__kwdefaults__ is not None:
        found.append(Read(given, "__kwdefaults__", given.__kwdefaults__))
        found += [Read(given.__kwdefaults__, *item) for item in given.__kwdefaults__.items()]
    return found


def at_paths(
    source: Source, paths: Iterable[Path], known_reads: Mapping[Path, Read] | None = None
) -> dict[Path, Read] | None:
    """What is read at paths, in a fixed order; None if one of them leads nowhere.

    That is what is known to have been read there, and else what is there now.
    """
    found: dict[Path, Read] = {}
    for path in sorted(paths):
        if known_reads and path in known_reads:
            found[path] = known_reads[path]
            continue
        *above, name = path
        owner: object = source
        if above:
            known = found.get(tuple(above))
            owner = None if known is None else known.value
        if isinstance(owner, DeviceFunction):
            owner = cast("AnyFunction", owner).source
        if isinstance(owner, Source):
            value = owner.lookup(name)
        elif type(owner) is ModuleType:
            value = getattr(owner, name, MISSING)
        else:
            return None
        found[path] = Read(owner, name, value)
    return found


def marks(reads: Mapping[Path, Read]) -> list[str] | None:
    """What reads at paths gave; None if that cannot be written down."""
    marker = Marker()
    found: list[str] = []
    for path, read in reads.items():
        mark = marker.mark(read.value)
        if mark is None:
            return None
        found.append(f"{' '.join(path)} = {mark}")
    return found


def mark_of_parameter(parameter: Parameter | None) -> str:
    """What a parameter is."""
    match parameter:
        case None:
            return "none"
        case ScalarParameter(dtype):
            return f"scalar {_type(dtype)}"
        case ArrayParameter(mode, dtype, rank):
            return f"{mode.value} {_type(dtype)} {rank}"
        case _:
            return f"static {parameter.kind.__name__}"


def mark_of_number(value: object) -> str | None:
    """A number, a text or bytes of Python's own types."""
    if type(value) is float:
        return f"float {struct.pack('<d', value).hex()}"  # NaNs differ in sign and payload
    return f"{type(value).__name__} {value!r}" if type(value) in _PLAIN else None


def _type(dtype: DataType | GenericType) -> str:
    return f"generic {dtype.name}" if isinstance(dtype, GenericType) else dtype.spelling


_PLAIN = (bool, int, float, str, bytes)


class Marker:
    """Says what values are; functions and modules also by which of them are the same."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def mark(self, value: object) -> str | None:
        """All that a translation can find out about a value; None if that is no end of things."""
        if type(value) in _PLAIN:
            return mark_of_number(value)
        if type(value) is tuple:
            parts = [self.mark(item) for item in cast("tuple[object, ...]", value)]
            known = [part for part in parts if part is not None]
            return f"({', '.join(map(repr, known))})" if len(known) == len(parts) else None
        if isinstance(value, ModuleType):
            return f"module {self._number(value)} {value.__name__}"
        if isinstance(value, ScalarType):
            return f"type {value.dtype.spelling}"
        if isinstance(value, (GenericType, TypeVar)):
            name = value.name if isinstance(value, GenericType) else value.__name__
            return f"generic {name}"
        if isinstance(value, DeviceFunction):
            return self._function(cast("AnyFunction", value))
        return _own(value) or _of_python(value) or _of_numpy(value)

    def _number(self, value: object) -> int:
        return self._numbers.setdefault(id(value), len(self._numbers))

    def _function(self, function: AnyFunction) -> str | None:
        if id(function) in self._numbers:
            return f"function {self._number(function)}"
        source = function.source
        given = function.function
        names = sorted(source.annotations.keys() - {"return"})
        parts = [
            source.name,
            "\n".join(source.lines),
            *(f"{name}: {mark_of_parameter(function.parameter(name))}" for name in names),
        ]
        defaults = {**dict(enumerate(given.__defaults__ or ())), **(given.__kwdefaults__ or {})}
        for name, value in defaults.items():
            # None is nothing that a kernel could use.
            mark = "none" if value is None else self.mark(value)
            if mark is None:
                return None
            parts.append(f"{name} = {mark}")
        return f"function {self._number(function)} {parts!r}"


def _own(value: object) -> str | None:
    """A function of vyre's for kernels."""
    if type(value) is not FunctionType or value.__module__ not in _OF_FUNCTIONS:
        return None
    home = sys.modules[value.__module__]
    name = value.__name__
    return f"{home.__name__}.{name}" if getattr(home, name, None) is value else None


def _of_python(value: object) -> str | None:
    if not isinstance(value, (type, BuiltinFunctionType)):
        return None
    name = value.__name__
    return f"builtin {name}" if getattr(builtins, name, None) is value else None


def _of_numpy(value: object) -> str | None:
    """A scalar of numpy's."""
    kind = type(value)
    if kind.__module__ != "numpy" or kind.__name__ not in BY_NUMPY_NAME:
        return None
    return f"numpy {kind.__name__} {mark_of_number(cast('Any', value).item())}"
