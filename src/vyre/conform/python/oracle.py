"""CPython as the oracle: the source of a kernel, run by Python itself.

A kernel of the Python front end is a Python function, so Python says what it means. The names of
`vy` are replaced by ones that do on plain lists what a kernel does on arrays: an element outside is
zero, and a store outside does nothing. Invocations run one after the other.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

from vyre.conform.python.typed import mathematics, types

FILE = "<python>"
"""What Python takes for the file of a source."""
Number = int | float | bool
T = TypeVar("T")


class Cells:
    """An array as a kernel sees it, of up to three axes."""

    def __init__(self, values: Iterable[Number], shape: Sequence[int] | None = None) -> None:
        self.values = list(values)
        self.shape = (len(self.values),) if shape is None else tuple(shape)
        self.size = len(self.values)
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: int | tuple[int, ...]) -> Number:
        place = self._place(index)
        if place is None:
            return type(self.values[0])(0) if self.values else 0
        return self.values[place]

    def __setitem__(self, index: int | tuple[int, ...], value: Number) -> None:
        place = self._place(index)
        if place is not None:
            self.values[place] = value

    def atomic_add(self, index: int | tuple[int, ...], value: Number) -> Number:
        """What was there before; nothing else runs in between."""
        old = self[index]
        self[index] = old + value
        return old

    def atomic_exchange(self, index: int | tuple[int, ...], value: Number) -> Number:
        """What was there before."""
        old = self[index]
        self[index] = value
        return old

    def atomic_max(self, index: int | tuple[int, ...], value: Number) -> Number:
        """What was there before; the greater stays."""
        return self.atomic_exchange(index, max(self[index], value))

    def atomic_min(self, index: int | tuple[int, ...], value: Number) -> Number:
        """What was there before; the lesser stays."""
        return self.atomic_exchange(index, min(self[index], value))

    def _place(self, index: int | tuple[int, ...]) -> int | None:
        indices = index if isinstance(index, tuple) else (index,)
        assert len(indices) == self.ndim, "as many indices as axes"
        place = 0
        for one, extent in zip(indices, self.shape, strict=True):
            if not 0 <= one < extent:
                return None
            place = place * extent + int(one)
        return place


class _Annotation:
    """`vy.In[vy.f32]` and its kin, which Python does not look at."""

    def __getitem__(self, key: object) -> object:
        return self


def _whole(bits: int, *, signed: bool) -> Callable[[Number], int]:
    """A conversion to a whole number: integers wrap, floats are cut off and held at the ends."""
    low = -(1 << bits - 1) if signed else 0
    high = low + (1 << bits) - 1

    def convert(value: Number) -> int:
        if isinstance(value, float):
            return 0 if math.isnan(value) else int(min(max(value, low), high))
        return (int(value) - low) % (1 << bits) + low

    return convert


def _f32(value: Number) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


def _decorator(*functions: Callable[..., object], **options: object) -> Any:
    """`@vy.kernel`, with or without options, which leaves a function as it is."""
    return functions[0] if functions else lambda function: function  # pyright: ignore[reportUnknownVariableType, reportUnknownLambdaType]


def _either(condition: bool, if_true: T, if_false: T) -> T:
    return if_true if condition else if_false


def _local(dtype: Callable[[Number], Number], *shape: int | tuple[int, ...]) -> Cells:
    first = shape[0]
    extents = (
        first
        if isinstance(first, tuple)
        else [int(one) for one in shape if not isinstance(one, tuple)]
    )
    return Cells([dtype(0)] * math.prod(extents), extents)


def _as_float(function: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(function(value))


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


_MATH = SimpleNamespace(
    pi=math.pi,
    e=math.e,
    inf=math.inf,
    nan=math.nan,
    floor=_as_float(math.floor),
    ceil=_as_float(math.ceil),
    trunc=_as_float(math.trunc),
    absolute=abs,
    minimum=min,
    maximum=max,
    fmin=min,
    fmax=max,
    clip=_clip,
    where=_either,
    isnan=math.isnan,
    isinf=math.isinf,
    isfinite=math.isfinite,
    copysign=math.copysign,
)


_PLAIN: dict[str, Callable[[Number], Number]] = {
    **{f"u{bits}": _whole(bits, signed=False) for bits in (8, 16, 32, 64)},
    **{f"i{bits}": _whole(bits, signed=True) for bits in (8, 16, 32, 64)},
    "f32": _f32,
    "f64": float,
    "bool_": bool,
}
"""Conversions to Python's numbers, in the range of the type."""


class Invocation:
    """Which invocation runs, along the first axis of the grid."""

    def __init__(self, workgroup: int, groups: int, *, typed: bool = False) -> None:
        self.workgroup = workgroup
        self.groups = groups
        self.typed = typed
        self.number = 0

    def module(self) -> SimpleNamespace:
        """What stands for `vy`."""
        here = _Annotation()
        return SimpleNamespace(
            **(types() if self.typed else _PLAIN),
            In=here,
            Out=here,
            InOut=here,
            static=here,
            kernel=_decorator,
            func=_decorator,
            local=_local,
            select=_either,
            math=mathematics(_either) if self.typed else _MATH,
            gid=lambda axis=0: 0 if axis else self.number,
            lid=lambda axis=0: 0 if axis else self.number % self.workgroup,
            wid=lambda axis=0: 0 if axis else self.number // self.workgroup,
            num_groups=lambda axis=0: 1 if axis else self.groups,
            group_size=lambda axis=0: 1 if axis else self.workgroup,
        )


def by_python(
    source: str,
    kernel: str,
    arguments: Sequence[object],
    *,
    workgroup: int,
    groups: int,
    names: Mapping[str, object] | None = None,
    typed: bool = False,
) -> None:
    """Run a kernel in the source once per invocation; arrays among the arguments are `Cells`.

    Its numbers are Python's, or, where they are `typed`, numpy's scalars of the declared types.
    """
    invocation = Invocation(workgroup, groups, typed=typed)
    scope: dict[str, Any] = {**(names or {}), "vy": invocation.module()}
    exec(compile(source, FILE, "exec"), scope)
    for invocation.number in range(workgroup * groups):
        scope[kernel](*arguments)
