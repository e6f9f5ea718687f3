"""The Python front end: functions decorated with `@vyre.kernel` become programs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vyre.front.device_functions import DeviceFunction, func
    from vyre.front.kernels import KernelSource, Specialisation, Translated, kernel_source

__all__ = [
    "DeviceFunction",
    "KernelSource",
    "Specialisation",
    "Translated",
    "func",
    "kernel_source",
]

_HOME = {
    "DeviceFunction": "device_functions",
    "KernelSource": "kernels",
    "Specialisation": "kernels",
    "Translated": "kernels",
    "func": "device_functions",
    "kernel_source": "kernels",
}
"""Where each name is: who runs programs needs the names of scalar types, and reads no kernels."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
