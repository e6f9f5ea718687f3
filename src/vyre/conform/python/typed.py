"""Numbers of declared types for the oracle: numpy scalars, which wrap and round as a device does.

Python's own numbers among them are what a kernel takes them for: they have the type of what they
meet. So `x[i] * 3` is an `np.int32` where x holds these, and a variable that a literal began is an
`int` of Python until it meets one. What is computed of such numbers alone must not overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

Number = Any
"""A number of Python or of numpy."""

NUMPY: dict[str, type[np.generic]] = {
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
}
"""The scalar of numpy for a type of kernels."""


def _whole(name: str) -> Callable[[Number], Number]:
    """A conversion to a whole number: integers wrap, floats are cut off and held at the ends."""
    kind: Any = NUMPY[name]
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)

    def convert(value: Number) -> Number:
        if isinstance(value, float) or type(value) is np.float32:
            number = float(value)
            return kind(0 if math.isnan(number) else int(min(max(number, low), high)))
        return kind((int(value) - low) % (high - low + 1) + low)

    return convert


def _kept(function: Callable[..., Any]) -> Callable[..., Number]:
    """A function of numpy's that leaves Python's numbers Python's."""

    def call(*values: Number) -> Number:
        found = function(*values)
        return found if any(isinstance(one, np.generic) for one in values) else found.item()

    return call


def types() -> dict[str, Callable[[Number], Number]]:
    """The conversions by the name that `vy` has for them."""
    whole = {name: _whole(name) for name in NUMPY if name != "f32"}
    return {**whole, "f32": np.float32, "f64": np.float64, "bool_": bool}


def mathematics(where: Callable[..., Any]) -> SimpleNamespace:
    """What stands for `vy.math`: what numpy gives, of the type that it was given."""
    same = ("floor", "ceil", "trunc", "rint", "absolute", "minimum", "maximum", "fmin", "fmax")
    more = ("clip", "sqrt", "square", "isnan", "isinf", "isfinite")
    found = {name: _kept(getattr(np, name)) for name in (*same, *more)}
    numbers = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
    return SimpleNamespace(**found, **numbers, where=where)
