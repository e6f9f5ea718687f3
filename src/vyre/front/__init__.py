"""The Python front end: functions decorated with `@vyre.kernel` become programs."""

from __future__ import annotations

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
