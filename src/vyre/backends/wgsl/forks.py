"""Forked processes: drivers do not work in them, so devices refuse to, and say why.

A driver and wgpu itself have threads and locks, and a forked process gets the locks as they were
without the threads that would open them. Whatever waits for the device waits for ever then, and
even letting go of an object may. A process that is forked before wgpu has begun is not concerned.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from typing import Any, Protocol

from vyre.diagnostics import DeviceError
from vyre.diagnostics.codes import driver as codes

FORKED = "it was in use before this process was forked, and does not work in it"
FORKED_REMEDY = "start processes with multiprocessing.get_context('spawn')"


class _State:
    """What this process has of wgpu."""

    begun = False
    """Whether wgpu has been asked for anything."""
    inherited = False
    """Whether that was in another process, before this one was forked from it."""


class Disownable(Protocol):
    """Something that belongs to a process."""

    def disown(self) -> None:
        """Be of no use in this one, which was forked from it."""
        ...


_state = _State()
_devices: weakref.WeakSet[Disownable] = weakref.WeakSet()


def begin() -> None:
    """Note that wgpu is going to be used."""
    _state.begun = True


def note_device(device: Disownable) -> None:
    """Note a device, which a forked process disowns."""
    _devices.add(device)


def keep_for_ever(kept: object) -> None:
    """Let something never end, not even with the interpreter: its end may wait for a lock."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def is_inherited() -> bool:
    """Whether wgpu belongs to the process that this one was forked from."""
    return _state.inherited


def refuse_inherited(device: str) -> None:
    """Raise an error if a device belongs to the process that this one was forked from."""
    if _state.inherited:
        raise DeviceError(codes.FORKED_DEVICE.at(name=device))


def _after_fork() -> None:
    helpers: Any = sys.modules.get("wgpu.backends.wgpu_native._helpers")
    if not _state.begun and getattr(helpers, "_the_instance", None) is None:
        return
    _state.inherited = True
    for device in _devices:
        device.disown()
    api: Any = sys.modules.get("wgpu.backends.wgpu_native._api")
    if hasattr(api, "libf"):
        # Its objects are let go of by calls of the library unless this is None, as it is when the
        # interpreter ends.
        keep_for_ever(api.libf)
        api.libf = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
