"""Random kernels compute what Python computes from the same text."""

from __future__ import annotations

import linecache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.random_source import Writer

X = np.array([0, 1, -1, 5, 17, -300, 999, 64], np.int64)


class Anything:
    """Stands for `vy.In` and its kin where Python runs the function."""

    def __getitem__(self, key: object) -> object:
        return self


def by_python(source: str) -> list[int]:
    here = 0
    stand_in = SimpleNamespace(
        kernel=lambda workgroup: lambda function: function,
        In=Anything(),
        Out=Anything(),
        i64=int,
        u32=int,
        gid=lambda: here,
    )
    names: dict[str, Any] = {"vy": stand_in}
    exec(compile(source, "<python>", "exec"), names)
    y = [0] * len(X)
    for here in range(len(X)):  # noqa: B007
        names["k"](X.tolist(), y)
    return y


def kernel_of(source: str, name: str) -> vy.Kernel[...]:
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"vy": vy}
    exec(compile(source, name, "exec"), names)
    return names["k"]


@pytest.mark.parametrize("seeds", [range(0, 25), range(25, 50)])
def test_a_random_kernel_is_what_python_says(seeds: range) -> None:
    for seed in seeds:
        source = Writer(seed).function()
        y = np.zeros_like(X)
        kernel_of(source, f"<kernel {seed}>").reference(X, y, sanitize=False)
        assert y.tolist() == by_python(source), f"seed {seed}:\n{source}"


@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_when_compiled(seed: int) -> None:
    source = Writer(seed).function()
    y = np.zeros_like(X)
    kernel_of(source, f"<kernel {seed}>")(X, y, device="cpu")
    assert y.tolist() == by_python(source), f"seed {seed}:\n{source}"
