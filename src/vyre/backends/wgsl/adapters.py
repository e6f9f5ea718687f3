"""Which WebGPU devices this machine has."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from vyre.backends.wgsl.forks import FORKED, FORKED_REMEDY, begin, is_inherited
from vyre.driver.backend import DeviceInfo, DeviceKind
from vyre.interruptible import start
from vyre.record import dataclass
from vyre.signals import is_from_handler, tolerate

PATIENCE = 8.0
"""Seconds that drivers have to answer. They take a fraction of one, unless the machine is busy."""


@dataclass(frozen=True, slots=True)
class Found:
    """A device, and the adapter of wgpu that opens it."""

    info: DeviceInfo
    adapter: Any


def find_adapters() -> list[Found]:
    """The devices that are here, or one that is not available and says why."""
    if is_inherited():
        return [Found(_unavailable(FORKED, FORKED_REMEDY), None)]
    begin()
    answer: list[list[Any]] = []
    problem: list[str] = []

    def ask() -> None:
        try:
            answer.append(_enumerate())
        except ImportError as missing:
            problem.append(f"the package wgpu cannot be imported: {missing}")
        except Exception as failure:  # noqa: BLE001  -- a driver may fail in any way
            problem.append(f"the driver failed: {failure}")

    # A driver that hangs must not take the process with it.
    thread = threading.Thread(target=ask, name="vyre-wgpu-probe", daemon=True)
    try:
        start(thread)
    except RuntimeError as refusal:
        if is_from_handler(refusal):
            raise
        remedy = "let the process have more threads: see `ulimit -u`"
        return [Found(_unavailable(f"it needs a thread: {refusal}", remedy), None)]
    thread.join(PATIENCE)
    if problem:
        return [Found(_unavailable(problem[0], "reinstall it: pip install --upgrade wgpu"), None)]
    if not answer:
        waited = f"no driver answered within {PATIENCE:g} s"
        return [Found(_unavailable(waited, "try again, or check `vulkaninfo --summary`"), None)]
    if not answer[0]:
        missing = "no GPU driver was found"
        remedy = "install your GPU's Vulkan driver, or a software one: "
        remedy += "`apt-get install libvulkan1 mesa-vulkan-drivers`"
        return [Found(_unavailable(missing, remedy), None)]
    return [Found(_info(adapter, k), adapter) for k, adapter in enumerate(answer[0])]


def _enumerate() -> list[Any]:
    """Adapters, real GPUs first; each device once, though several of its APIs may answer."""
    with _runtime_dir():
        import wgpu

        # OpenGL adds nothing that the others lack, and makes starting slow.
        _choose_apis()
        adapters: list[Any] = list(wgpu.gpu.enumerate_adapters_sync())
    seen: set[tuple[str, int]] = set()
    kept: list[Any] = []
    for adapter in sorted(adapters, key=lambda a: (_is_software(a), _api_rank(a))):
        key = (str(adapter.info["device"]), int(adapter.info["device_id"]))
        if adapter.info["backend_type"] != "OpenGL" and key not in seen:
            seen.add(key)
            kept.append(adapter)
    return kept


@cache
def _choose_apis() -> None:
    """Possible until wgpu has made its instance, which others may have done."""
    from wgpu.backends import wgpu_native

    extras: Any = wgpu_native.extras
    with tolerate(RuntimeError):
        extras.set_instance_extras(backends=["Primary"])


def _is_software(adapter: Any) -> bool:
    return adapter.info["adapter_type"] == "CPU"


def _api_rank(adapter: Any) -> int:
    order = ("Vulkan", "Metal", "D3D12")
    api = adapter.info["backend_type"]
    return order.index(api) if api in order else len(order)


def _info(adapter: Any, number: int) -> DeviceInfo:
    name = str(adapter.info["device"]) or f"adapter {number}"
    kind = DeviceKind.SOFTWARE_GPU if _is_software(adapter) else DeviceKind.GPU
    plain = re.sub(r"\(.*?\)", "", name).lower()
    words = re.findall(r"[a-z0-9]+", plain)
    aliases = dict.fromkeys((f"wgpu:{words[0]}", f"wgpu:{'-'.join(words)}")) if words else {}
    return DeviceInfo(f"wgpu:{number}", "wgpu", kind, name, tuple(aliases))


def _unavailable(reason: str, remedy: str) -> DeviceInfo:
    return DeviceInfo(
        "wgpu:0", "wgpu", DeviceKind.GPU, "WebGPU", available=False, reason=reason, remedy=remedy
    )


@contextmanager
def _runtime_dir() -> Iterator[None]:
    """Mesa complains on stderr when XDG_RUNTIME_DIR is not set, as in containers."""
    if "XDG_RUNTIME_DIR" in os.environ:
        yield
        return
    # A folder of its own: drivers look for sockets in it, and in /tmp others may have put some.
    with tempfile.TemporaryDirectory(prefix="vyre-", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            os.environ.pop("XDG_RUNTIME_DIR", None)
