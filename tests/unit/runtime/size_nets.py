"""What finds wrong sizes of a launch: the general functions, asked about the same arguments."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import struct
from typing import Any

import numpy as np

import vyre as vy
from tests.unit.analysis import test_output_coverage as covering
from tests.unit.analysis.default_grid.nets import kernel_from, source_of
from vyre.diagnostics import DispatchError, FrontError
from vyre.front.parameters import ArrayParameter, Mode, ScalarParameter
from vyre.runtime import kernel_arguments as arguments
from vyre.runtime import launch_sizes
from vyre.runtime.argument_signature import Number
from vyre.runtime.clearing import packed_runs
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel_grid import grid_plan, launch_grid
from vyre.runtime.kernel_outputs import outputs_of

Sized = tuple[tuple[int, int, int], tuple[Any, ...]] | None
"""The grid, and of each array which bytes are zeroed; None for a call that is refused."""


@vy.kernel
def up_to(n: vy.u32, m: vy.i32, x: vy.In[vy.f32], y: vy.Out[vy.f32], z: vy.Out[vy.u8, 2]):
    i = vy.gid()
    if i < n:
        y[i] = 1.0
    if i > 1 and i < z.shape[0] - 1:
        for k in range(z.shape[1]):
            z[i, k] = 1


@vy.kernel(workgroup=(8, 4))
def sheared(n: vy.u32, x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2], z: vy.Out[vy.u16]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]
    if i < len(z) // 2 and j < n:
        z[2 * i] = 3


COVERED = (
    *(covering.own, covering.returns, covering.plane, covering.some, covering.inner),
    *(covering.leaves, covering.elsewhere, covering.one_place, covering.midst),
    *(covering.midst_or_leave, covering.midst_signed, covering.parts, up_to, sheared),
)


def random_kernels(seeds: range) -> list[Any]:
    """Those that are kernels, and find their grid."""
    found: list[Any] = []
    for seed in seeds:
        made = kernel_from(source_of(seed), f"<guards {seed}>")
        try:
            plan = grid_plan(made.program())
        except FrontError:
            continue
        if plan.needs is not None:
            found.append(made)
    return found


def random_arguments(kernel: Any, rng: np.random.Generator, least: int = 0) -> list[Any]:
    """Arrays and numbers of any size, among them those around the ends of workgroups."""
    ends = [max(n, least) for n in (1, 2, 3, 7, 8, 9, 63, 64, 65, 200)]
    made: list[Any] = []
    for parameter in kernel.source.parameters.values():
        if isinstance(parameter, ScalarParameter):
            made.append(int(rng.choice([least, 5, *ends, 30_000])))
            continue
        assert isinstance(parameter, ArrayParameter)
        shape = [int(rng.choice(ends[: 9 - 2 * parameter.rank])) for _ in range(parameter.rank)]
        if rng.random() < 0.2:
            shape[0] = int(rng.integers(least + 1, 40_000 if parameter.rank == 1 else 90))
        if rng.random() < 0.3:
            shape = rng.integers(least + 1, 40, parameter.rank).tolist()
        made.append(rng.integers(0, 100, shape).astype(_type_of(parameter)))
    return made


def _type_of(parameter: Any) -> np.dtype[Any]:
    return numpy_type(parameter.dtype)


def random_extents(rng: np.random.Generator) -> dict[str, Any]:
    """`grid` or `elements`, or neither."""
    many = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 4))))
    said = [{}, {}, {"grid": many}, {"grid": many[0]}, {"elements": 9 * many[0]}]
    return said[int(rng.integers(len(said)))]


class _Slow:
    """The general functions, where a size function asks for them."""

    def __init__(self, kernel: Any, args: list[Any]) -> None:
        self._asked = kernel, args

    def slow_grid(self, args: Any, numbers: Any) -> Any:
        grid, _ = general(*self._asked, {}) or ((0, 0, 0), ())
        return None if 0 in grid else grid

    def slow_runs(self, shapes: Any, args: Any, numbers: Any, grid: Any) -> bytes:
        return _runs(*self._asked, grid)


def _prepared(kernel: Any, args: list[Any]) -> Any:
    bound = arguments.by_parameter(kernel.source, tuple(args), {}, partial=False)
    made = arguments.prepare(kernel.source, bound)
    arguments.keep_numbers(kernel.program(), made)
    return made


def _runs(kernel: Any, args: list[Any], grid: Any) -> bytes:
    names = list(kernel.source.parameters)
    outs = outputs_of(kernel.source, kernel.program(), _prepared(kernel, args), grid, frozenset())
    return packed_runs(
        (names.index(name), out.array.shape, out.array.dtype.itemsize, out.cuts)
        for name, out in outs.items()
    )


def general(kernel: Any, args: list[Any], said: dict[str, Any]) -> Sized:
    """What an uncached call finds."""
    made = _prepared(kernel, args)
    try:
        grid = launch_grid(kernel.program(), made, said.get("grid"), said.get("elements"))
    except DispatchError:
        return None
    runs = _zeroed(_runs(kernel, args, grid), args)
    return ((0, 0, 0) if 0 in grid else grid), runs


def compiled(kernel: Any, args: list[Any], said: dict[str, Any]) -> Sized:
    """What a call like one before finds."""
    program, places, numbers = kernel.program(), list[Any](), list[Number]()
    for position, (name, parameter) in enumerate(kernel.source.parameters.items()):
        value = args[position]
        if isinstance(parameter, ScalarParameter):
            numbers.append(Number(name, position, int, _type_of(parameter)))
            assert numbers[-1].take(value)
            continue
        size, is_out = value.dtype.itemsize, parameter.mode is Mode.OUT
        place = (name, position, position, value.ndim, size, is_out)
        places.append(launch_sizes.ArrayPlace(*place))
    by_name = {one.name: (one.position, k) for k, one in enumerate(numbers)}
    sized = launch_sizes.size_function(program, places, by_name, 0)
    given = None
    if said:
        given = launch_sizes.given_grid(program, said.get("grid"), said.get("elements"))
        assert given is not None
    shapes = [args[place.position].shape for place in places]
    found = sized(shapes, tuple(args), numbers, given, _Slow(kernel, args))
    if found is None:
        return None
    grid, runs, touched = found
    assert touched == sum(args[place.position].nbytes for place in places)
    return grid, _zeroed(runs, args)


def _zeroed(runs: bytes, args: list[Any]) -> tuple[Any, ...]:
    """Of each argument which bytes are zeroed, one character each."""
    bytes_of = [bytearray(getattr(arg, "nbytes", 0)) for arg in args]
    for place, first, many, repeats, distance in struct.iter_unpack("=5q", runs):
        for k in range(repeats):
            at = first + k * distance
            assert at + many <= len(bytes_of[place])
            bytes_of[place][at : at + many] = b"\1" * many
    return tuple(bytes(each) for each in bytes_of)
