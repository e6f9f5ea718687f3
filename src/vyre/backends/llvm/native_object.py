"""The runtime's own machine code: the thread pool and the launch functions, kept on disk.

It is written in LLVM IR (`native/*.ll`), compiled once per installation for any CPU of the
architecture, and read back with its digest checked, so that a warm start needs no llvmlite.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from typing import Final

from vyre.backends.llvm.image import MAGIC
from vyre.backends.llvm.loader import ready_to_load
from vyre.digests import blake2b

_SOURCES: Final = os.path.join(os.path.dirname(__file__), "native")
_DIGEST_BYTES: Final = 32

_RELAX: Final = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
}
_FUTEX: Final = {"x86_64": "202", "aarch64": "98"}
_GETTID: Final = {"x86_64": "186", "aarch64": "178"}

_PARTS: Final = {
    "linux": ("system_posix.ll", "wait_futex.ll"),
    "linux-condition": ("system_posix.ll", "wait_condition.ll"),
    "darwin": ("system_posix.ll", "wait_condition.ll"),
    "win32": ("system_windows.ll",),
}
"""The files of each system; `linux-condition` tests on Linux what macOS uses."""

_LINUX: Final = {
    "SIGACTION": "{ ptr, [128 x i8], i32, ptr }",
    "CLOCK_MONOTONIC": "1",
    "SIG_SETMASK": "2",
    "SIGBUS": "7",
    "DETACHED": "1",
}
_DARWIN: Final = {
    "SIGACTION": "{ ptr, i32, i32 }",
    "CLOCK_MONOTONIC": "6",
    "SIG_SETMASK": "3",
    "SIGBUS": "10",
    "DETACHED": "2",
}


def architecture() -> str:
    """This machine's instruction set by its LLVM name."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


@cache
def source(system: str, of_architecture: str) -> str:
    """The runtime as LLVM IR text, for a system as `sys.platform` names it."""
    names = ("pool.ll", *_PARTS[system], "python.ll")
    text = "\n".join(map(_text, names))
    values = {
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


def object_bytes(folder: str | None, exports: Sequence[str]) -> bytes:
    """The compiled runtime, from `folder` if it is there; otherwise compiled and stored there.

    It is linked where that can be done here, and has these functions.
    """
    text = source(sys.platform, architecture())
    if folder is None:
        return ready_to_load(_compile(text), exports)
    parts = (architecture(), *exports, MAGIC.decode(), text)
    key = blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()
    path = os.path.join(folder, f"runtime-{key}.o")
    stored = _read(path)
    if stored is not None:
        return stored
    code = ready_to_load(_compile(text), exports)
    _write(path, code)
    return code


def _compile(text: str) -> bytes:
    from vyre.backends.llvm import host, jit

    # The first launch of all waits for it, and no launch can tell how well it was made.
    return jit.compile_text(text, host.generic(), jit.BRISK).object


def _read(path: str) -> bytes | None:
    """The stored object, or None when there is none or it is not what was written."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.readall()
    except OSError:
        return None
    digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return code if blake2b(code, digest_size=_DIGEST_BYTES).digest() == digest else None


def _write(path: str, code: bytes) -> None:
    """Store under a temporary name and rename; a folder that cannot be written is no failure."""
    temporary = f"{path.removesuffix('.o')}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(blake2b(code, digest_size=_DIGEST_BYTES).digest() + code)
        os.replace(temporary, path)
    except OSError:
        return
