"""The native runtime: thread pool and launch functions, compiled and cached.

It is written in LLVM IR (`native/*.ll`), compiled once per installation for any CPU of the
architecture, and kept like compiled programs, so that a warm start needs no llvmlite.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from typing import Final

from vyre.backends.llvm.abi import WORKER_STACK_BYTES
from vyre.backends.llvm.image import MAGIC
from vyre.backends.llvm.loader import ready_to_load
from vyre.cache import DiskCache, cache_key, code_stamp, is_still_the_code

_SOURCES: Final = os.path.join(os.path.dirname(__file__), "native")

_RELAX: Final = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
}
_FUTEX: Final = {"x86_64": "202", "aarch64": "98"}
_GETTID: Final = {"x86_64": "186", "aarch64": "178"}

_PARTS: Final = {
    "linux": ("system_posix.ll", "stack_linux.ll", "wait_futex.ll"),
    "linux-condition": ("system_posix.ll", "stack_linux.ll", "wait_condition.ll"),
    "darwin": ("system_posix.ll", "stack_darwin.ll", "wait_condition.ll"),
    "win32": ("system_windows.ll",),
}
"""The files of each system; `linux-condition` tests on Linux what macOS uses."""

_LINUX: Final = {
    "SIGACTION_BYTES": "152",
    "SIGACTION": "{ ptr, [128 x i8], i32, ptr }",
    "SIGURG": "23",
    "SA_FLAGS": str(0x10000000 | 0x40000000 | 4),
    "CLOCK_MONOTONIC": "1",
    "SIG_SETMASK": "2",
    "SIGBUS": "7",
    "DETACHED": "1",
}
_DARWIN: Final = {
    "SIGACTION_BYTES": "16",
    "SIGACTION": "{ ptr, i32, i32 }",
    "SIGURG": "16",
    "SA_FLAGS": str(2 | 0x10 | 0x40),
    "CLOCK_MONOTONIC": "6",
    "SIG_SETMASK": "3",
    "SIGBUS": "10",
    "DETACHED": "2",
}
"""The flags of a handler are SA_RESTART, SA_NODEFER and SA_SIGINFO."""


def architecture() -> str:
    """This machine's instruction set by its LLVM name."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@cache
def source(system: str, of_architecture: str) -> str:
    """The runtime as LLVM IR text, for a value of `sys.platform`."""
    names = ("pool.ll", *_PARTS[system], "python.ll", "sequence.ll")
    text = "\n".join(map(_text, names))
    values = {
        "STACK": str(WORKER_STACK_BYTES),
        "FUTEX": _FUTEX.get(of_architecture, "0"),
        "GETTID": _GETTID.get(of_architecture, "0"),
    }
    values |= _DARWIN if system == "darwin" else _LINUX
    for name, value in values.items():
        text = text.replace(f"${name}", value)
    relax = _RELAX.get(of_architecture, "")
    return f"{text}\ndefine internal void @os_relax() nounwind {{\n  {relax}\n  ret void\n}}\n"


def _text(name: str) -> str:
    with open(os.path.join(_SOURCES, name), encoding="utf-8") as file:
        return file.read()


def object_bytes(store: DiskCache, exports: Sequence[str]) -> bytes:
    """The compiled runtime, from the cache if it is there; otherwise compiled and kept there.

    It is linked where that can be done here, and has these functions.
    """
    text = source(sys.platform, architecture())
    if not store.limit:
        return ready_to_load(_compile(text), exports)
    parts = (architecture(), *exports, MAGIC.decode(), text)
    key = cache_key("native runtime 1", code_stamp(), *parts)
    stored = store.get(key)
    if stored is not None:
        return bytes(stored)
    code = ready_to_load(_compile(text), exports)
    if is_still_the_code():
        store.put(key, code)
    return code


def _compile(text: str) -> bytes:
    from vyre.backends.llvm import host, jit

    # The first launch waits for its compilation, and no launch gains from better code.
    return jit.compile_text(text, host.generic(), jit.BRISK).object
