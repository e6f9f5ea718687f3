"""Runs the body of a kernel on a device and in CPython; what each left in the arrays."""

from __future__ import annotations

import linecache
import textwrap
from itertools import count
from typing import Any

import numpy as np

import vyre as vy
from vyre.conform.python.oracle import Cells, by_python

GRID = 8
X = np.array([3, -1, 4, 1, -5, 9, 2, 6], np.int32)
F = np.array([0.5, -1.25, 2.0, 7.75, -0.5, 3.0, 1.5, -4.0], np.float32)
HEAD = """\
@vy.kernel(workgroup=4)
def k(x: vy.In[vy.i32], f: vy.In[vy.f32], n: vy.i32,
      r: vy.InOut[vy.i32], y: vy.Out[vy.i32], g: vy.Out[vy.f32]):
    i = vy.gid()
"""
_NUMBERS = count()


def source_of(body: str, before: str = "") -> str:
    """A kernel with this body; `before` stands above it."""
    return textwrap.dedent(before) + HEAD + textwrap.indent(textwrap.dedent(body), "    ")


def kernel_of(source: str, names: dict[str, Any] | None = None) -> vy.Kernel[...]:
    """The kernel in a source."""
    file = f"<kernel {next(_NUMBERS)}>"
    linecache.cache[file] = (0, None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"vy": vy, **(names or {})}
    exec(compile(source, file, "exec"), scope)
    return scope["k"]


def arrays() -> tuple[Any, ...]:
    """The arguments: everything that a kernel can change comes last."""
    r = np.arange(10, 10 + GRID, dtype=np.int32)
    return X, F, 5, r, np.zeros(2 * GRID, np.int32), np.zeros(2 * GRID, np.float32)


def on_device(source: str, device: str, names: dict[str, Any] | None = None) -> list[list[Any]]:
    """What a device leaves in the arrays that it changes."""
    given = arrays()
    kernel = kernel_of(source, names)
    # One workgroup after the other, as Python runs them.
    kernel(*given, device=device, elements=GRID, deadline=10.0)
    return [one.tolist() for one in given[3:]]


def in_python(source: str, names: dict[str, Any] | None = None) -> list[list[Any]]:
    """What CPython leaves there."""
    given = [Cells(a.tolist()) if isinstance(a, np.ndarray) else a for a in arrays()]
    by_python(source, "k", given, workgroup=4, groups=GRID // 4, names=names)
    return [one.values for one in given[3:]]
