"""Pipelines as Python runs their text: kernels are numpy functions, `vyre` is this module.

Nothing here shares code with the product: what the text of a pipeline means is what Python does
with it, on arrays of zeros.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]
TYPES: Mapping[str, Any] = {
    **{"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16, "f16": np.float16},
    **{"u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "bool_": np.bool_},
}
Store = tuple[str, str, str, str]
"""A guard, what is stored to, an index and a value: texts of both languages."""
_PARAMETER = re.compile(r"vy\.(In|Out|InOut)\[")


class MostReached(Exception):
    """A loop that a flag did not end."""


class CountAbove(Exception):
    """A count above its limit."""


class _Loads:
    """An array as a kernel reads it: zeros beyond its ends."""

    def __init__(self, array: Host) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Host:
        at = np.asarray(index, np.int64)
        inside = (at >= 0) & (at < len(self._array))
        found = np.zeros(at.shape, self._array.dtype)
        found[inside] = self._array[at[inside]]
        return found


class _Counted:
    """Counted scratch: as long as its count says when it is looked at."""

    def __init__(self, array: Host, count: Host) -> None:
        self.array, self.count = array, count

    def __len__(self) -> int:
        """The limit: only `vy.at_most` may ask."""
        return len(self.array)

    def now(self) -> Host:
        if self.count[0] > len(self.array):
            raise CountAbove
        return self.array[: int(self.count[0])]


def run_stores(
    stores: list[Store],
    arrays: Mapping[str, Host],
    numbers: Mapping[str, Any],
    invocations: int,
) -> None:
    """Execute guarded stores `if guard: target[index] = value` for all invocations at once.

    A target that ends with `+` is added to by atomics, one with `|` gets the maximum.
    """
    i = np.arange(invocations, dtype=np.int64)
    before = {name: array.copy() for name, array in arrays.items()}
    names: dict[str, Any] = {name: _Loads(array) for name, array in before.items()}
    casts = {name: _cast(dtype) for name, dtype in TYPES.items()}
    names |= {"vy": SimpleNamespace(**casts), "i": i, **numbers}
    names |= {"max": np.maximum, "min": np.minimum}
    for guard, target, index, value in stores:
        taken = np.broadcast_to(eval(guard or "True", names), i.shape)
        at = np.broadcast_to(np.asarray(eval(index, names), np.int64), i.shape)
        array = arrays[target.rstrip("+|")]
        found = np.broadcast_to(eval(value, names), i.shape)
        taken = taken & (at >= 0) & (at < len(array))
        with np.errstate(all="ignore"):
            if target.endswith("+"):
                np.add.at(array, at[taken], found[taken].astype(array.dtype))
            elif target.endswith("|"):
                np.maximum.at(array, at[taken], found[taken].astype(array.dtype))
            else:
                array[at[taken]] = found[taken]


def _cast(dtype: Any) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype)

    return cast


class Vyre:
    """What pipelines use of vyre."""

    def __init__(self) -> None:
        for name, dtype in TYPES.items():
            setattr(self, name, dtype)
        self._rounds: dict[tuple[int, int], int] = {}

    def scratch(self, dtype: Any, size: Any, count: Host | None = None) -> Any:
        made = np.zeros(size, dtype)
        return made if count is None else _Counted(made, count)

    def at_most(self, limit: int, start: int = 0) -> int:
        return limit

    def scratch_like(self, array: Any) -> Any:
        if isinstance(array, _Counted):
            return _Counted(np.zeros_like(array.array), array.count)
        return np.zeros_like(array)

    def flag(self) -> Host:
        return np.zeros(1, np.uint32)

    def keep(self, array: Any) -> None:
        pass

    def copy(self, source: Host, target: Host) -> None:
        target[...] = source

    def when(self, flag: Host) -> bool:
        return bool(flag[0])

    def again(self, flag: Host, most: int) -> bool:
        """True if the loop that asks has another iteration."""
        caller = sys._getframe(1)
        loop = (id(caller), caller.f_lineno)
        done = self._rounds.pop(loop, 0)
        if most == 0 or (done and not flag[0]):
            return False
        if done == most:
            raise MostReached
        self._rounds[loop] = done + 1
        flag[0] = 0
        return True

    def pipeline(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, on outputs of zeros; counted results are trimmed."""
        modes = [_PARAMETER.match(str(each)) for each in function.__annotations__.values()]

        def call(*args: Any) -> Any:
            for array, mode in zip(args, modes, strict=False):
                if mode is not None and mode[1] == "Out":
                    array[...] = 0
            return function(*args)

        return call


def trimmed(result: Any) -> Any:
    """What a caller gets for a result."""
    if isinstance(result, tuple):
        return tuple(trimmed(each) for each in result)
    return result.now().copy() if isinstance(result, _Counted) else result


class Kernel:
    """A kernel as Python runs it."""

    def __init__(
        self,
        parameters: list[tuple[str, str, str]],
        stores: list[Store],
        workgroup: int,
        whole: Callable[..., None] | None = None,
    ) -> None:
        self.parameters = parameters
        """Names, modes (empty for a number) and types."""
        self.stores = stores
        self.workgroup = workgroup
        self.whole = whole
        """What it does, where that is not stores by invocations."""

    def __call__(self, *args: Any, grid: int | None = None, elements: int | None = None) -> None:
        arrays: dict[str, Host] = {}
        numbers: dict[str, Any] = {}
        for (name, mode, kind), value in zip(self.parameters, args, strict=True):
            if not mode:
                numbers[name] = TYPES[kind](value)
                continue
            if isinstance(value, _Counted):
                if mode == "Out":
                    value.array[...] = 0
                writes = any(
                    value.count is other and m in ("Out", "InOut")
                    for (_, m, _), other in zip(self.parameters, args, strict=True)
                )
                value = value.array if writes else value.now()
            elif mode == "Out":
                value[...] = 0
            arrays[name] = value
        if self.whole is not None:
            self.whole(**arrays, **numbers)
            return
        many = 64 + 8 * max((len(each) for each in arrays.values()), default=1)
        if elements is not None:
            many = -(-elements // self.workgroup) * self.workgroup
        if grid is not None:
            many = grid * self.workgroup
        run_stores(self.stores, arrays, numbers, many)
