"""Random calls: what a kernel may be given, in the forms that callers have it in."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false, reportInvalidTypeForm=false

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

import vyre as vy
from vyre.diagnostics import VyreError
from vyre.front.parameters import ArrayParameter, Mode, ScalarParameter, StaticParameter
from vyre.ir import DataType
from vyre.runtime.host_types import numpy_type

Host = np.ndarray[Any, Any]
T = vy.generic("T")


@vy.kernel
def scaled(k: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y) and i < len(x):
        y[i] = k * x[i]


@vy.kernel
def added(k: vy.i32, n: vy.u32, x: vy.In[vy.i32], y: vy.InOut[vy.i32]):
    i = vy.gid()
    if i < n and i < len(x) and i < len(y):
        y[i] += x[i] + k


@vy.kernel
def chosen(odd: vy.bool_, b: vy.u8, x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(x) and i < len(y) and odd == (x[i] % 2 == 1):
        y[i] = b


@vy.kernel(workgroup=(8, 4))
def turned(x: vy.In[T, 2], y: vy.Out[T, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1] and i < x.shape[1] and j < x.shape[0]:
        y[i, j] = x[j, i] + x[j, i]


@vy.kernel
def tallied(x: vy.In[vy.u8], counts: vy.InOut[vy.u32], most: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and vy.u32(x[i]) < len(counts):
        counts.atomic_add(x[i], 1)
    if i < len(x) and len(most) > 0:
        most.atomic_max(0, vy.u32(x[i]))


@vy.kernel
def grown(by: vy.static[int], x: vy.In[T], y: vy.InOut[T]):
    i = vy.gid()
    if i < len(x) and i < len(y):
        y[i] = x[i] + T(by)


@vy.kernel
def mirrored(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    before = vy.u32(0)
    if i < len(x):
        before = x[i]
        x[i] = before * 3
    vy.grid_sync()
    if i < len(y) and i < len(x):
        y[i] = x[len(x) - 1 - i] + before


@vy.kernel
def summed(x: vy.In[vy.f32], total: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x) and len(total) > 0:
        total.atomic_add(0, x[i])


KERNELS: tuple[Any, ...] = (scaled, added, chosen, turned, tallied, grown, mirrored, summed)

_LENGTHS = (0, 1, 2, 3, 7, 31, 32, 63, 64, 65, 128, 200)
_WIDTHS = (0, 1, 2, 3, 5, 8, 9, 17)
_GENERIC = (DataType.F32, DataType.I32, DataType.U16, DataType.F64, DataType.U8)


class Call:
    """A call of a kernel, made from a seed: the same seed gives equal calls on other memory."""

    def __init__(self, kernel: Any, seed: int) -> None:
        self._draw = random.Random(seed)
        self._is_tame = self._draw.random() < 0.7
        """Whether it is one that the next call is like."""
        self.memories: list[Any] = []
        """All memory that the arguments lie in."""
        self.kernel = kernel
        generic = self._draw.choice(_GENERIC[:2] if self._is_tame else _GENERIC)
        length = self._draw.choice(_LENGTHS)
        arguments: dict[str, Any] = {}
        for name, parameter in kernel.source.parameters.items():
            if isinstance(parameter, StaticParameter):
                arguments[name] = self._draw.choice([1, 2, 2, 2, True, np.int64(1), 0])
            elif isinstance(parameter, ScalarParameter):
                assert isinstance(parameter.dtype, DataType)
                arguments[name] = self._number(parameter.dtype)
            else:
                assert isinstance(parameter, ArrayParameter)
                dtype = parameter.dtype if isinstance(parameter.dtype, DataType) else generic
                arguments[name] = self._array(numpy_type(dtype), parameter, length)
        self.arguments = arguments
        self.options = self._options()

    def outcome(self, call: Any) -> tuple[object, ...]:
        """What a call did: its error, and all memory behind it."""
        problem: tuple[str, str] | None = None
        try:
            call(self)
        except VyreError as error:
            problem = type(error).__name__, str(error).splitlines()[0]
        return problem, *(contents(memory) for memory in self.memories)

    def _number(self, dtype: DataType) -> Any:
        draw = self._draw
        values: list[Any]
        if dtype.is_bool:
            values = [True, False, np.True_, np.False_, True, False, 1, 0.0]
        elif dtype.is_float:
            values = [2.0, -0.5, 3, np.float32(1.5), np.float64(0.25), np.int8(-3), True]
            values += [float(draw.randrange(-9, 9)), draw.randrange(-9, 9), (1 << 60) + 1]
            values += [float("inf"), -0.0, 1e300, np.float16(2), np.uint64(1 << 63)]
        else:
            wanted = numpy_type(dtype).type
            values = [draw.randrange(200), draw.randrange(70), 64, 0, wanted(7), np.int64(5)]
            values += [np.uint8(3), -1, 1 << 31, 1 << 40, 2.0, True, np.uint64(9)]
        return draw.choice(values[:2] if self._is_tame else values)

    def _array(self, dtype: np.dtype[Any], parameter: ArrayParameter, length: int) -> Any:
        draw = self._draw
        if parameter.rank == 1:
            shape = (length if draw.random() < 0.7 else draw.choice(_LENGTHS),)
        else:
            shape = tuple(draw.choice(_WIDTHS) for _ in range(parameter.rank))
        if not self._is_tame and draw.random() < 0.05:
            dtype = draw.choice([np.dtype(np.int64), np.dtype(np.float16), np.dtype(np.int8)])
        form = draw.choice(_FORMS[:_TAME] if self._is_tame else _FORMS)
        earlier = [each for each in self.memories if isinstance(each, np.ndarray)]
        if form == "shared" and earlier:
            flat = draw.choice(earlier).reshape(-1)
            if flat.dtype == dtype and flat.size >= np.prod(shape):
                first = draw.randrange(int(flat.size - np.prod(shape)) + 1)
                return flat[first : first + int(np.prod(shape))].reshape(shape)
        if form == "device":
            made = vy.array(self._filled(shape, dtype), device="cpu")
            self.memories.append(made)
            return made
        found = self._view(form, shape, dtype)
        if parameter.mode is Mode.IN and draw.random() < 0.1:
            found.flags.writeable = False
        return found

    def _filled(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Host:
        rng = np.random.default_rng(self._draw.randrange(1 << 30))
        return rng.integers(0, 60, shape).astype(dtype)

    def _view(self, form: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Host:
        """An array of a shape, in memory of its own."""
        draw = self._draw
        size = int(np.prod(shape))
        if form == "unaligned":
            raw = bytearray(size * dtype.itemsize + 1)
            self.memories.append(raw)
            view = np.frombuffer(raw, np.uint8)[1:].view(dtype).reshape(shape)
            view[...] = self._filled(shape, dtype)
            return view
        if form == "other byte order":
            dtype = dtype.newbyteorder()
        if form == "spread":
            steps = tuple(draw.choice([1, 1, 2, 3, -1, -2]) for _ in shape)
            outer = tuple(abs(s) * n + 2 for s, n in zip(steps, shape, strict=True))
            whole = self._filled(outer, dtype)
            self.memories.append(whole)
            cut = tuple(slice(1, 1 + abs(s) * n, abs(s)) for s, n in zip(steps, shape, strict=True))
            flip = tuple(slice(None, None, -1 if s < 0 else 1) for s in steps)
            return whole[cut][flip]
        if form == "turned":
            whole = self._filled((*shape[::-1], 2), dtype)
            self.memories.append(whole)
            return whole[..., 0].T
        if form == "repeated":
            whole = self._filled((1, *shape[1:]), dtype)
            self.memories.append(whole)
            return np.lib.stride_tricks.as_strided(whole, shape, (0, *whole.strides[1:]))
        if form == "part":
            whole = self._filled((size + 8,), dtype)
            self.memories.append(whole)
            first = draw.randrange(9)
            return whole[first : first + size].reshape(shape)
        whole = self._filled(shape, dtype)
        self.memories.append(whole)
        return whole.view(_OwnClass) if form == "own class" else whole

    def _options(self) -> dict[str, Any]:
        draw = self._draw
        options: dict[str, Any] = {"device": "cpu"}
        if not self._is_tame and draw.random() < 0.3:
            options["deadline"] = draw.choice([30.0, 30, 60.0])
        what = draw.random()
        many = draw.choice([1, 2, 3, 5])
        extents: list[Any] = [many, (many,), (many, 1), draw.randrange(1, 200)]
        if not self._is_tame:
            extents += [(2, many, 1), [many], np.int64(many), 0, -1]
        if what < 0.4:
            options["elements" if what < 0.2 else "grid"] = draw.choice(extents)
        return options

    @property
    def is_deterministic(self) -> bool:
        """Whether each element has one invocation; kernels look at the first of their ids."""
        extents = self.options.get("elements"), self.options.get("grid")
        many = any(type(one) is tuple and one[1:2] > (1,) for one in extents)
        return self.kernel is turned or not many


_FORMS = (
    *("plain", "part", "spread", "turned", "device"),
    *("repeated", "shared", "unaligned", "other byte order", "own class"),
)
_TAME = 4


class _OwnClass(np.ndarray):
    """A class of arrays with ways of its own."""


def contents(memory: Any) -> bytes:
    """The bytes of an array, wherever it is."""
    if isinstance(memory, vy.DeviceArray):
        return memory.numpy().tobytes()
    return bytes(memory) if isinstance(memory, bytearray) else memory.tobytes()


def repeated(call: Call) -> None:
    """As anyone calls it."""
    call.kernel(**call.arguments, **call.options)


def looked_at(call: Call) -> None:
    """Without the call cache."""
    options: Mapping[str, Any] = call.options
    names = ("device", "grid", "elements", "deadline")
    call.kernel._call((), call.arguments, tuple(options.get(name) for name in names))


def referred(call: Call) -> None:
    """On the reference."""
    options = {name: value for name, value in call.options.items() if name != "device"}
    call.kernel.reference(**call.arguments, **options, sanitize=False)
