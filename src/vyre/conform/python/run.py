"""One source, run by CPython and as a program: what each leaves in the arrays."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np

from vyre.conform.generate.dice import Dice
from vyre.conform.python.kernel import SLOTS, WORKGROUP
from vyre.conform.python.oracle import Cells, by_python
from vyre.conform.python.scope import World
from vyre.conform.python.typed import NUMPY
from vyre.front.kernels import KernelSource, Specialisation
from vyre.ir import Program
from vyre.semantics import Array

WRITTEN = ("r", "y", "g")
"""The arrays that a kernel changes."""
_SHAPE = (2, 3)
_numbers = count()


def inputs_of(seed: int, world: World, parts: int) -> dict[str, Array]:
    """The contents of all buffers before the kernel runs."""
    dice = Dice(f"python data {seed}")
    dtype = np.dtype(NUMPY[world.dtype])
    total = parts * WORKGROUP * SLOTS

    def whole(size: int) -> Array:
        if world.wraps and dice.chance(5):
            return np.array([dice.bits(world.bits) for _ in range(size)], np.uint64).astype(dtype)
        low = -60 if world.is_signed else 0
        return np.array([dice.between(low, 60) for _ in range(size)], dtype)

    floats = [dice.between(-40, 40) / 8 for _ in range(8)]
    return {
        "x": whole(8),
        "f": np.array(floats, np.float32),
        "m": whole(6),
        "m.shape": np.array(_SHAPE, np.uint32),
        "n": whole(1),
        "r": whole(total),
        "y": np.zeros(total, dtype),
        "g": np.zeros(total, np.float32),
    }


def in_python(
    source: str, world: World, inputs: Mapping[str, Array], parts: int, *, typed: bool = True
) -> dict[str, Array]:
    """What CPython leaves in the arrays; an overflow where none may be is an error.

    Its numbers are numpy's, which have the declared types, or else Python's own, which are brought
    into the range of an array where they are stored.
    """
    given: dict[str, Any] = {
        name: Cells(list(array) if typed else array.tolist(), _SHAPE if name == "m" else None)
        for name, array in inputs.items()
        if name != "m.shape"
    }
    given["n"] = given["n"][0]
    with np.errstate(over="ignore" if world.wraps else "raise", invalid="raise", divide="raise"):
        values = list(given.values())
        by_python(source, "k", values, workgroup=WORKGROUP, groups=parts, typed=typed)
        return {name: _stored(given[name].values, inputs[name].dtype) for name in WRITTEN}


def _stored(values: list[Any], dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "f":
        return np.array(values, dtype)
    low, size = int(np.iinfo(dtype).min), 1 << 8 * dtype.itemsize
    return np.array([(int(value) - low) % size + low for value in values], dtype)


def translated(source: str) -> Program:
    """The program of the kernel, translated now and not remembered."""
    import vyre
    from vyre.front.captured_state import Reads
    from vyre.front.lower import translate

    file = f"<kernel {next(_numbers)}>"
    linecache.cache[file] = (0, None, source.splitlines(keepends=True), file)
    try:
        scope: dict[str, Any] = {"vy": vyre, "__name__": "kernel"}
        exec(compile(source, file, "exec"), scope)
        made: KernelSource = scope["k"].source
        return translate(made, Specialisation(), Reads(made.source))
    finally:
        del linecache.cache[file]
