"""Launching: compiled programs, arguments, device arrays, the cache, telemetry."""

from __future__ import annotations

from vyre.runtime.compiled import CompiledProgram
from vyre.runtime.compiling import compile
from vyre.runtime.device_array import DeviceArray, array, zeros
from vyre.runtime.run import dispatch, run
from vyre.runtime.telemetry import profile

__all__ = [
    "CompiledProgram",
    "DeviceArray",
    "array",
    "compile",
    "dispatch",
    "profile",
    "run",
    "zeros",
]
