"""Advised conversions to wider floats keep the digits; literals do not become infinite."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import FrontError
from vyre.front.advice import cast
from vyre.ir import DataType


@vy.kernel
def stored(x: vy.InOut[vy.f64]):
    x[0] = vy.math.sqrt(2.0)


@vy.kernel
def multiplied(x: vy.InOut[vy.f64]):
    if vy.gid() == 0:
        x[0] = x[0] * vy.math.sqrt(2.0)


@vy.kernel
def stored_widely(x: vy.InOut[vy.f64]):
    x[0] = vy.math.sqrt(vy.f64(2.0))


@vy.kernel
def multiplied_widely(x: vy.InOut[vy.f64]):
    if vy.gid() == 0:
        x[0] = x[0] * vy.math.sqrt(vy.f64(2.0))


@pytest.mark.parametrize("kernel", [stored, multiplied, stored_widely, multiplied_widely])
def test_functions_of_literals_keep_the_digits(kernel: Any) -> None:
    x = np.ones(1)
    kernel(x, device="cpu", elements=1)
    assert x[0] == math.sqrt(2)


@pytest.mark.parametrize(
    ("text", "advised"),
    [
        ("a", "vy.f64(a)"),
        ("x[i]", "vy.f64(x[i])"),
        ("a * 0.1", "vy.f64(a) * 0.1"),
        ("vy.math.exp(a * 0.1) + 1", "vy.math.exp(vy.f64(a) * 0.1) + 1"),
        ("-vy.math.sqrt(2.0)", "-vy.math.sqrt(vy.f64(2.0))"),
        ("own(2.0)", "vy.f64(own(2.0))"),
        ("vy.math.power(2.0, x[i])", "vy.math.power(2.0, vy.f64(x[i]))"),
    ],
)
def test_leaves_are_converted(text: str, advised: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert cast(node, DataType.F64, DataType.F32) == advised
    assert cast(node, DataType.F32, DataType.F64) == f"vy.f32({text})"


@vy.kernel
def huge(x: vy.InOut[vy.f32]):
    x[0] = x[0] * 1e300


@vy.kernel
def cast_to_half(x: vy.InOut[vy.f16]):
    x[0] = vy.f16(70000)


@vy.kernel
def infinite(x: vy.InOut[vy.f32]):
    x[0] = vy.math.inf
    x[1] = 3.4028235e38


def test_a_finite_literal_does_not_become_infinite() -> None:
    for kernel, dtype in ((huge, np.float32), (cast_to_half, np.float16)):
        with pytest.raises(FrontError) as caught:
            kernel(np.ones(2, dtype), device="cpu")
        assert "vy.math.inf" in str(caught.value)
    x = np.zeros(2, np.float32)
    infinite(x, device="cpu")
    assert x.tolist() == [math.inf, np.finfo(np.float32).max]
