"""Arrays named on the command line, and arrays shown to people."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.cli.command import UsageError
from vyre.cli.output import listing
from vyre.driver.lengths import TOO_LONG
from vyre.ir import BufferDecl, DataType, Program
from vyre.ir.types import TypeKind
from vyre.runtime.host_numbers import as_element
from vyre.runtime.host_types import numpy_type
from vyre.semantics import encode, value_dtype
from vyre.semantics.casts import round_to_bf16

Array = NDArray[Any]

_MADE = ("zeros", "ones", "range", "random")


def pairs(given: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` arguments."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} {text}: write NAME=VALUE")
        found[name] = value
    return found


def check_given(program: Program, given: Container[str], made: Container[str] = ()) -> None:
    """Refuse to start while inputs are missing, and say how they are given."""
    missing = [
        decl
        for decl in program.buffers
        if decl.is_host_input and decl.name not in given and decl.name not in made
    ]
    if missing:
        raise UsageError(
            f"no --in for {listing([decl.name for decl in missing])}; give each a file, a number "
            "or made-up contents: " + " ".join(f"--in {_suggestion(decl)}" for decl in missing)
        )


def _suggestion(decl: BufferDecl) -> str:
    if decl.count == 1:
        return f"{decl.name}=1"
    return f"{decl.name}=random:{decl.count or 1000}"


def whole(text: str, option: str) -> int:
    """A number of things."""
    if not text.strip().isdecimal():
        raise UsageError(f"{option}: {text} is not a whole number")
    return int(text)


def inputs_from(program: Program, given: dict[str, str]) -> dict[str, Array]:
    """The arrays that `--in` arguments describe."""
    found: dict[str, Array] = {}
    for name, text in given.items():
        decl = program.buffer(name)
        if decl is None:
            known = [each.name for each in program.buffers if each.is_host_input]
            raise UsageError(f"--in: no buffer {name}; the inputs are {listing(known)}")
        found[name] = _array(decl, text)
    return found


def _array(decl: BufferDecl, text: str) -> Array:
    kind, _, size = text.partition(":")
    extents = size.split(",")
    if kind in _MADE and all(extent.isdecimal() for extent in extents):
        shape = tuple(map(int, extents))
        flat = _made(decl, kind, math.prod(shape))
        return flat if len(shape) == 1 else flat.reshape(shape)
    path = Path(text)
    if path.suffix == ".npy":
        try:
            return np.load(path, allow_pickle=False)
        except (OSError, ValueError) as problem:
            raise UsageError(f"--in {decl.name}: {path} cannot be read: {problem}") from problem
    if path.is_file():
        return _raw(decl, path)
    return _number(decl, text)


def _raw(decl: BufferDecl, path: Path) -> Array:
    """A file without a type of its own holds elements of the buffer."""
    data = np.fromfile(path, np.uint8)
    dtype = numpy_type(decl.element)
    if data.size % dtype.itemsize:
        raise UsageError(
            f"--in {decl.name}: {path} has {data.size} bytes, no multiple of the "
            f"{dtype.itemsize} of {dtype.name}"
        )
    return data.view(dtype)


def _number(decl: BufferDecl, text: str) -> Array:
    dtype = decl.value_type
    try:
        number = int(text, 0) if dtype.is_integer else float(text)
    except ValueError:
        kind = "whole number" if dtype.is_integer else "number"
        raise UsageError(
            f"--in {decl.name}: {text} is neither a file nor a {kind}, nor one of "
            + ", ".join(f"{made}:N" for made in _MADE)
        ) from None
    if dtype.is_integer:
        low, high = dtype.integer_range
        if not low <= number <= high:
            raise UsageError(f"--in {decl.name}: {dtype} holds {low} to {high}, not {text}")
    if decl.element.lanes > 1:
        return _stored(decl, np.array([number]))
    if dtype.is_bool and number in (0, 1):
        number = bool(number)
    return as_element(number, decl.element, decl.name)


def _stored(decl: BufferDecl, values: Array) -> Array:
    """Numbers as the elements of a buffer."""
    if decl.element is DataType.BF16:
        return (round_to_bf16(values.astype(np.float32)).view(np.uint32) >> 16).astype(np.uint16)
    if decl.element.kind is TypeKind.PACKED:
        return encode(decl.element, values.astype(value_dtype(decl.element))).astype(np.uint8)
    return values.astype(numpy_type(decl.element))


def _made(decl: BufferDecl, kind: str, count: int) -> Array:
    if count >= TOO_LONG:
        raise UsageError(f"--in {decl.name}: {kind}:{count} is too long: give at most 2**32 - 1")
    try:
        return _made_of(decl, kind, count * decl.element.lanes)
    except MemoryError as problem:
        raise UsageError(f"--in {decl.name}: {kind}:{count}: {problem}") from None


def _made_of(decl: BufferDecl, kind: str, total: int) -> Array:
    dtype = numpy_type(decl.element)
    if kind == "zeros":
        return np.zeros(total, dtype)
    if kind == "ones":
        return _stored(decl, np.ones(total))
    if kind == "range":
        return _stored(decl, np.arange(total))
    dice = np.random.default_rng(0)
    if dtype.kind == "f" or decl.element is DataType.BF16:
        return _stored(decl, dice.random(total))
    return np.frombuffer(dice.bytes(total * dtype.itemsize), dtype).copy()


def excerpt(array: Array, most: int = 6) -> str:
    """The first elements, for people."""
    flat = array.reshape(-1)
    shown = ", ".join(str(value) for value in flat[:most])
    return shown + (", …" if flat.size > most else "")


def summary(value: object) -> dict[str, object]:
    """An array for programs: what it is and how it begins."""
    array: Array = np.asarray(value)
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "head": [each.item() for each in array.reshape(-1)[:16]],
    }
