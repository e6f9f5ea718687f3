"""Kernels for the scenarios: short ones, long ones, and as many different ones as are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre as vy
from vyre.ir import Program


@vy.kernel
def add_one(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + 1


@vy.kernel
def double(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = 2 * x[i]


@vy.kernel
def increase(x: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] += 1


@vy.kernel
def churn(rounds: vy.u32, x: vy.InOut[vy.u32]):
    """Takes as long as is asked for, and gives what `churned` does."""
    i = vy.gid()
    if i < len(x):
        value = x[i]
        for _ in range(rounds):
            value = value * 1664525 + 1013904223
            if value == 0:
                value = 1
        x[i] = value


def churned(rounds: int, count: int) -> np.ndarray[Any, Any]:
    """What `churn` makes of 0, 1, 2 …"""
    value = np.arange(count, dtype=np.uint32)
    for _ in range(rounds):
        value = value * np.uint32(1664525) + np.uint32(1013904223)
        value[value == 0] = 1
    return value


def check(device: str | None = "cpu", count: int = 1000) -> None:
    """Launch something, and look at what it gives."""
    x = np.arange(count, dtype=np.uint32)
    y = np.zeros_like(x)
    add_one(x, y, device=device)
    assert np.array_equal(y, x + 1)


def different(number: int, length: int = 12) -> Program:
    """A program like no other, of a given number of statements."""
    number %= 1 << 31
    lines = "\n".join(
        f"    v = v * {number + 2 * k + 1}u32 + x[(i + {k}u32) % len(x)]" for k in range(length)
    )
    return Program.parse(
        "program workgroup(64, 1, 1)\nbuffer x: read_only u32[] @0\nbuffer y: write_only u32[] @1\n"
        f'region "r" {{\n    let i = gid.x\n    let v = {number}u32\n{lines}\n    y[i] = v\n}}'
    )


def check_different(number: int, device: str = "cpu") -> None:
    """Compile and launch a program like no other."""
    x = np.arange(200, dtype=np.uint32)
    got = vy.run(different(number), {"x": x}, sizes={"y": 200}, device=device)["y"]
    number %= 1 << 31
    i, v = np.arange(200), np.full(200, number, np.uint32)
    for k in range(12):
        v = v * np.uint32(number + 2 * k + 1) + x[(i + k) % 200]
    assert np.array_equal(got, v)
