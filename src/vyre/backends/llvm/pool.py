"""The process's pool of native threads: settings and launch functions.

Workers start with the first launch that uses them, sleep when idle, and end with
the process. A forked child has a pool of its own that starts in the same way.
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache
from typing import Final, Literal, Protocol, cast

from vyre.backends.llvm import heuristics, native_object
from vyre.backends.llvm.loader import load_object
from vyre.backends.llvm.outcome import NativeResult
from vyre.cache import default_cache
from vyre.config import config
from vyre.locks import make_lock

LaunchKind = Literal["bound", "arrays", "raw", "sequence"]

EXPORTS: Final = (
    "vyre_method_bound",
    "vyre_method_arrays",
    "vyre_method_raw",
    "vyre_method_sequence",
    "vyre_clear_blocks",
    "vyre_copy_blocks",
    "vyre_pool_configure",
    "vyre_pool_reset",
    "vyre_pool_workers",
)


class NativeLaunch(Protocol):
    """A function of the native runtime; its arguments depend on the kind of launch."""

    def __call__(self, *arguments: object) -> NativeResult:
        """Launch and wait."""
        ...


class Pool:
    """The native runtime, loaded into this process. There must be no more than a few of them."""

    def __init__(self, code: bytes, threads: int, spin_ns: int = heuristics.SPIN_NS) -> None:
        native = load_object(code, EXPORTS)
        # Workers run this code until the process ends, also while the interpreter shuts down.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(native))
        self.threads = threads
        self._spin_ns = spin_ns
        self._methods: dict[LaunchKind, int] = {
            "bound": native.address("vyre_method_bound"),
            "arrays": native.address("vyre_method_arrays"),
            "raw": native.address("vyre_method_raw"),
            "sequence": native.address("vyre_method_sequence"),
        }
        self.clear_blocks = native.address("vyre_clear_blocks")
        """A kernel that fills memory with zeros."""
        self.copy_blocks = native.address("vyre_copy_blocks")
        """A kernel that copies memory."""
        self._configure = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64)(
            native.address("vyre_pool_configure")
        )
        self._reset = ctypes.CFUNCTYPE(None)(native.address("vyre_pool_reset"))
        self._workers = ctypes.CFUNCTYPE(ctypes.c_int32)(native.address("vyre_pool_workers"))
        self._settle()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _settle(self) -> None:
        self._configure(self.threads, self._spin_ns, threading.main_thread().ident or 0)

    def _forked(self) -> None:
        self._reset()
        self._settle()

    @property
    def workers(self) -> int:
        """How many workers run now."""
        return self._workers()

    def function(self, kind: LaunchKind, bound: tuple[object, ...]) -> NativeLaunch:
        """A function of the interpreter that launches `bound`: an address and its owners."""
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return cast(NativeLaunch, new(self._methods[kind], bound, None))


def default_threads() -> int:
    """VYRE_THREADS if set, else the CPUs available to this process."""
    wanted = config().threads
    if wanted is not None:
        return wanted
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_pool() -> Pool:
    """The one pool of this process."""
    with _creating:
        return _process_pool()


_creating = make_lock()


@cache
def _process_pool() -> Pool:
    return Pool(native_object.object_bytes(default_cache(), EXPORTS), default_threads())
