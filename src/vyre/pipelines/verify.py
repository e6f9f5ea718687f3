"""`VYRE_CHECK=1` for pipelines: a call is compared with its stages run apart, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import verify as codes
from vyre.pipelines.arguments import Arguments
from vyre.runtime.device_array import DeviceArray

Host = np.ndarray[Any, np.dtype[Any]]
Contents = Mapping[str, Host]
"""What arrays hold, by the names of arguments and the positions of results."""


def expected_of(
    given: Arguments, apart: Callable[[Arguments], tuple[DeviceArray, ...]]
) -> Contents:
    """What the arguments and results of a call hold after its stages ran apart, on copies."""
    copies = replace(given, arrays={name: _copy(each) for name, each in given.arrays.items()})
    results = apart(copies)
    return _contents(copies, results)


def _copy(array: Host | DeviceArray) -> Host | DeviceArray:
    return array.__copy__() if isinstance(array, DeviceArray) else array.copy()


def _contents(given: Arguments, results: tuple[DeviceArray, ...]) -> Contents:
    found = dict(given.arrays)
    found.update({f"result {n}": each for n, each in enumerate(results)})
    return {n: a.numpy() if isinstance(a, DeviceArray) else a for n, a in found.items()}


def compare(
    name: str, given: Arguments, results: tuple[DeviceArray, ...], expected: Contents
) -> None:
    """Raise an error that names the first element that differs."""
    for key, found in _contents(given, results).items():
        one, two = found.reshape(-1), expected[key].reshape(-1)
        if len(one) != len(two):
            raise BackendError(
                codes.PIPELINE_DIFFERS.at(
                    name=name,
                    array=key,
                    index=min(len(one), len(two)),
                    found=f"{len(one)} elements",
                    expected=f"{len(two)} elements",
                )
            )
        raw = (
            np.ascontiguousarray(each).view(np.uint8).reshape(len(each), -1) for each in (one, two)
        )
        differ = np.flatnonzero(np.any(np.not_equal(*raw), axis=1)) if len(one) else np.zeros(0)
        if len(differ):
            at = int(differ[0])
            raise BackendError(
                codes.PIPELINE_DIFFERS.at(
                    name=name, array=key, index=at, found=one[at], expected=two[at]
                )
            )
