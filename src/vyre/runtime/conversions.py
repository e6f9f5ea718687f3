"""Contents for an array of a device: numbers that its type holds, every one of them.

Floats are rounded to the type. They do not become infinite, nor whole numbers, and whole numbers do
not wrap: a number that would become another one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.front.scalars import ScalarType
from vyre.ir import DataType
from vyre.runtime.host_arrays import instead_of
from vyre.runtime.host_types import numpy_type, type_of_numpy
from vyre.runtime.host_views import NO_VIEW, HostArray, host_view, is_raw
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_KEEP = "use numbers that it holds, or keep their type: vy.array(x, dtype={!r})"
_TYPES = "bool, int8 to int64, uint8 to uint64, float16, float32, float64"


def known_type(wanted: DTypeLike | ScalarType, *, is_empty: bool = False) -> np.dtype[Any]:
    """A numpy type that holds elements of some buffer, in the byte order of this machine.

    `is_empty` says that there are no contents yet, of which an error could speak.
    """
    given: Any = wanted
    if isinstance(given, ScalarType):
        if given.dtype is DataType.BF16:
            raise _no_type("bf16", "use np.uint16, which holds the bits of a bf16")
        return numpy_type(given.dtype)
    try:
        dtype: np.dtype[Any] = np.dtype(given).newbyteorder("=")
    except (TypeError, ValueError) as problem:
        if is_from_handler(problem):
            raise
        raise _no_type(repr(wanted), f"use one of: {_TYPES}") from problem
    if type_of_numpy(dtype) is not None:
        return dtype
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}").name
        parts = f"one for each part, of the type {part!r}" if is_empty else "x.real and x.imag"
        raise _no_type(str(dtype), f"make two arrays: {parts}")
    raise _no_type(str(dtype), f"use one of: {_TYPES}")


def _no_type(found: str, fix: str) -> ArgumentError:
    return ArgumentError(codes.NO_TYPE.at(found=found, fix=fix))


def contents(value: object, dtype: np.dtype[Any] | None) -> HostArray:
    """The numbers of an array-like, as the type holds them, or as they are."""
    try:
        if isinstance(value, (int, float)) or _is_sequence(value):
            host: HostArray = np.asarray(value)
        else:
            host = host_view(value)
    except NO_VIEW as problem:
        if is_from_handler(problem):
            raise
        found = f"{type(value).__name__} ({problem})"
        instead = instead_of(value, "x", DataType.F32, written=False)
        if _is_sequence(value):
            instead = "numbers, or lists of them that all have the same length"
        raise ArgumentError(
            codes.NOT_AN_ARRAY.at(name="array", found=found, instead=instead)
        ) from problem
    if dtype is None:
        return host.astype(known_type(host.dtype), copy=False)
    if is_raw(value):
        return _of_bytes(host, dtype)
    return host if host.dtype == dtype else _converted(host, dtype)


def _is_sequence(value: object) -> bool:
    bytes_like = (str, bytes, bytearray, memoryview)
    return isinstance(value, Sequence) and not isinstance(value, bytes_like)


def _of_bytes(host: HostArray, dtype: np.dtype[Any]) -> HostArray:
    if host.size % dtype.itemsize:
        size, found = f"{dtype.itemsize} bytes", f"{host.size} bytes"
        raise ArgumentError(codes.UNEVEN_ARRAY.at(name="array", size=size, found=found))
    return np.ascontiguousarray(host).view(dtype)


def _converted(host: HostArray, dtype: np.dtype[Any]) -> HostArray:
    found = host.dtype
    are_whole = found.kind in "ui" and dtype.kind in "ui"
    if not (are_whole or np.can_cast(found, dtype, "same_kind")):
        fix = _fix(host, dtype)
        raise ArgumentError(
            codes.WRONG_DTYPE.at(name="array", expected=dtype.name, found=str(found), fix=fix)
        )
    with np.errstate(over="ignore", invalid="ignore"):
        made: HostArray = host.astype(dtype)
    changed = made != host if are_whole else np.isinf(made) & np.isfinite(host)
    if changed.any():
        number = host[changed].flat[0].item()
        fix = _KEEP.format(found.name)
        raise ArgumentError(
            codes.WRONG_NUMBER.at(name="array", expected=dtype.name, found=number, fix=fix)
        )
    return made


def _fix(host: HostArray, dtype: np.dtype[Any]) -> str:
    """What to write for numbers of a kind that is not converted."""
    kind = host.dtype.kind
    if kind in "biuf" and dtype.kind == "b":
        return "compare them: np.asarray(x) != 0"
    if kind == "f" and dtype.kind in "ui":
        whole, limits = np.rint(host.astype(np.float64)), np.iinfo(dtype)
        if bool(((whole >= float(limits.min)) & (whole < float(limits.max + 1))).all()):
            return f"round them: np.rint(x).astype({dtype.name!r})"
        return (
            f"use numbers that it holds, or keep their type: vy.array(x, dtype={host.dtype.name!r})"
        )
    return f"use numbers of the type {dtype.name}"


__all__ = ["contents", "known_type"]
